// Another page of this site as a document, whose parts may be put into this one; null if it could not be had. The server
// has escaped what is in it, and its scripts do not run: a parsed document loads none, and the content policy forbids
// inline ones.
export async function fetchedPage(address, options = {}) {
  const response = await fetch(address, options);
  if (!response.ok || new URL(response.url).origin !== location.origin) return null;
  return new DOMParser().parseFromString(await response.text(), "text/html");
}
