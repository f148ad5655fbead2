// A receiver of webhooks with Express 4 or 5. The body has to stay bytes, so express.raw reads it, not express.json.
import express, { type Express } from "express";
import { WebhookError, webhooks } from "@parley/client";

export function receiver(secret: string, seen: (event: webhooks.AnyEvent) => Promise<void>): Express {
  const app = express();
  // Whatever the Content-Type, so that a request that is not Parley's gets 401.
  app.post("/parley", express.raw({ type: () => true, limit: "2mb" }), async (request, response, next) => {
    try {
      const event = await webhooks.verify(request.body, request.headers, secret);
      // Store event.webhook_id first and ignore one that is there: events can come twice.
      await seen(event);
      response.status(204).end();
    } catch (error) {
      if (error instanceof WebhookError) response.status(401).end();
      else next(error); // in Express 4, an async handler that throws ends the process
    }
  });
  return app;
}

// receiver(process.env.PARLEY_WEBHOOK_SECRET ?? "", async (event) => queue.add(event)).listen(3000);
