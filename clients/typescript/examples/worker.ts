// A receiver of webhooks for Cloudflare Workers, Deno, Bun, or a route handler of Next.js: Request in, Response out.
import { WebhookError, webhooks } from "@parley/client";

export interface Env {
  PARLEY_WEBHOOK_SECRET: string;
  queue: { send(event: webhooks.AnyEvent): Promise<void> };
}

export default {
  async fetch(request: Request, env: Env): Promise<Response> {
    if (request.method !== "POST") return new Response(null, { status: 405 });
    try {
      const event = await webhooks.verify(await request.arrayBuffer(), request.headers, env.PARLEY_WEBHOOK_SECRET);
      if (event.event_type === "interview_processed") await env.queue.send(event);
      return new Response(null, { status: 204 });
    } catch (error) {
      if (error instanceof WebhookError) return new Response(null, { status: 401 });
      throw error;
    }
  },
};
