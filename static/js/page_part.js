// Takes one element out of another page of this site. The server has escaped what is in that page, and its scripts do
// not run: the content policy forbids inline ones, and a parsed document loads none.
export async function pagePart(id, address, options = {}) {
  const response = await fetch(address, { credentials: "same-origin", ...options });
  if (!response.ok || new URL(response.url).origin !== location.origin) return null;
  const page = new DOMParser().parseFromString(await response.text(), "text/html");
  const part = page.getElementById(id);
  return part && document.adoptNode(part);
}
