function shown(box, text) {
  // ruleid: html-from-text
  box.innerHTML = text;
  // ruleid: html-from-text
  box.insertAdjacentHTML("beforeend", text);
  // ruleid: html-from-text
  new DOMParser().parseFromString(text, "text/html");
  // ok: html-from-text
  box.textContent = text;
}

function run(text) {
  // ruleid: script-from-text
  eval(text);
  // ruleid: script-from-text
  new Function(text)();
  // ruleid: script-from-text
  setTimeout("again()", 100);
  // ok: script-from-text
  setTimeout(() => again(), 100);
}

function gone(box) {
  const there = new URLSearchParams(location.search).get("to");
  // ruleid: goes-where-the-address-says
  location.assign(there);
  // ruleid: goes-where-the-address-says
  box.src = location.hash.slice(1);
  // ok: goes-where-the-address-says
  location.assign("/flows");
}

function called() {
  // ruleid: calls-a-foreign-host
  fetch("https://example.com/count");
  // ruleid: calls-a-foreign-host
  new WebSocket("wss://example.com/");
  // ruleid: calls-a-foreign-host
  import("//example.com/module.js");
  // ok: calls-a-foreign-host
  fetch("/interview/api/turns");
}

function heard(act) {
  // ruleid: listens-to-any-window
  window.addEventListener("message", act);
  // ruleid: listens-to-any-window
  parent.postMessage("ready", "*");
  // ok: listens-to-any-window
  worker.addEventListener("message", act);
}

function kept(token) {
  // ruleid: secret-kept-in-the-browser
  localStorage.setItem("parley-token", token);
  // ruleid: secret-kept-in-the-browser
  sessionStorage.setItem("email", token);
  // ok: secret-kept-in-the-browser
  localStorage.setItem("parley-captions", "on");
}

function made() {
  // ruleid: guessable-number
  const id = `part-${Math.random()}`;
  // ok: guessable-number
  return id + crypto.randomUUID();
}
