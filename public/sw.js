// What is read can be read again without a line, and what is written without one is sent once there is one.
//
// Copies are light pages: their styles are in them and they need no script, so that a copy made by one release is read with any other.
// They are kept for a week, and forgotten as soon as a page shows that nobody is signed in here any more.
const offlinePage = "/sin-conexion";
const shell = "shell";
const copies = "copies";
const keptFor = 7 * 24 * 60 * 60_000;
const copiesAtMost = 200;
// In ms. Of a page that is looked at again and again, as while a reply grows, a copy is made this often.
const copyEvery = 30_000;
const copiedAt = new Map();

self.addEventListener("install", (event) => {
  event.waitUntil(keepShell().then(() => self.skipWaiting()));
});
self.addEventListener("activate", (event) => {
  event.waitUntil(self.clients.claim());
});
self.addEventListener("sync", (event) => {
  event.waitUntil(sendPending());
});
self.addEventListener("message", (event) => {
  if (event.data === "online") event.waitUntil(sendPending());
});

self.addEventListener("fetch", (event) => {
  const { request } = event;
  const url = new URL(request.url);
  if (url.origin !== location.origin) return;
  if (url.pathname.startsWith(`${offlinePage}/`)) return event.respondWith(answerOfflinePage(request, url));
  if (request.method === "POST" && request.mode === "navigate") return event.respondWith(sendOrKeep(event));
  if (request.method !== "GET") return;
  if (request.mode === "navigate") return event.respondWith(showOrRecall(event, url));
  if (url.pathname.endsWith(".data")) return event.respondWith(fetchData(event, url));
  event.respondWith(fetch(request).catch(() => fromShell(request)));
});

/** The page that is shown without a line, with what it needs. */
async function keepShell() {
  const page = await fetch(offlinePage, { credentials: "omit" });
  if (!page.ok) return;
  const html = await page.clone().text();
  const parts = [...html.matchAll(/(?:href|src)="(\/[^"#]+\.(?:css|js|svg)[^"#]*)/g)].map(([, path]) => path);
  const kept = await caches.open(shell);
  await Promise.all([kept.put(offlinePage, page), kept.addAll([...new Set(parts), "/icons.svg"])]);
}

const fromShell = async (request) => (await caches.match(request, { cacheName: shell })) ?? Response.error();

/** A page from the server, else its copy, else the page that says that there is no line. */
async function showOrRecall(event, url) {
  try {
    const response = await fetch(event.request);
    event.waitUntil(noteShown(response, url));
    return response;
  } catch {
    const path = url.pathname === offlinePage ? undefined : url.pathname;
    const copy = path && (await caches.match(path, { cacheName: copies }).catch(() => undefined));
    return copy ?? fromShell(offlinePage);
  }
}

/** What a script asks for instead of a page: it says whether the page may be kept. */
async function fetchData(event, url) {
  const response = await fetch(event.request);
  const page = url.pathname.replace(/\.data$/, "");
  if (response.headers.has("Keep-Copy")) event.waitUntil(copyLater(page));
  event.waitUntil(sendPending());
  return response;
}

async function noteShown(response, url) {
  // Who is signed in never sees this page.
  if (response.ok && url.pathname === "/auth/signin") return caches.delete(copies);
  if (response.headers.has("Keep-Copy")) await copyLater(url.pathname);
  if (url.pathname !== offlinePage) await sendPending();
}

async function copyLater(path) {
  const now = Date.now();
  if (now - (copiedAt.get(path) ?? 0) < copyEvery) return;
  copiedAt.set(path, now);
  try {
    const page = await fetch(path, { headers: { "Make-Copy": "1" } });
    if (!page.ok || page.redirected || !page.headers.has("Keep-Copy")) return;
    const html = await page.text();
    const headers = new Headers(page.headers);
    headers.set("Copied-At", String(now));
    headers.set("Page-Title", encodeURIComponent(/<title>([^<]*)/.exec(html)?.[1] ?? path));
    const kept = await caches.open(copies);
    await kept.put(path, new Response(html, { headers }));
    await forgetOld(kept, now);
  } catch {
    // No line, or no room in this browser: what was kept before is still there.
  }
}

async function forgetOld(kept, now) {
  const all = await Promise.all((await kept.keys()).map(async (key) => [key, at(await kept.match(key))]));
  all.sort(([, a], [, b]) => b - a);
  const old = all.filter(([, when], place) => place >= copiesAtMost || now - when > keptFor);
  await Promise.all(old.map(([key]) => kept.delete(key)));
}

const at = (response) => Number(response?.headers.get("Copied-At") ?? 0);

/** A form that is sent, or kept to be sent later if it can be: one with a key makes one message however often it is sent. */
async function sendOrKeep(event) {
  const { request } = event;
  const path = new URL(request.url).pathname;
  // Another program has shared something: it brings no token of ours.
  const kept = request.clone();
  try {
    if (path === "/compartir" && !request.referrer) return await share(await request.formData());
    return await fetch(request);
  } catch {
    const form = await kept.formData();
    const waits = path === "/compartir" || (form.has("key") && form.has("content"));
    if (!waits) return fromShell(offlinePage);
    return keep(path, form).then(
      () => Response.redirect(`${offlinePage}#pendientes`, 303),
      () => noRoom(form),
    );
  }
}

/** The text is in the answer, so that nothing that was typed is lost. */
function noRoom(form) {
  const text = String(form.get("content") ?? form.get("text") ?? "").replace(/[&<]/g, (c) => (c === "&" ? "&amp;" : "&lt;"));
  const page = `<!doctype html><html lang="es"><meta charset="utf-8"><meta name="viewport" content="width=device-width"><meta name="color-scheme" content="dark"><title>Sin conexión · Tertulia</title><h1>No se ha podido guardar</h1><p>No hay conexión, y en este navegador no queda sitio o no se le deja guardar nada. Copia el texto y envíalo luego:</p><textarea rows="12" cols="40">${text}</textarea></html>`;
  return new Response(page, { status: 507, headers: { "Content-Type": "text/html; charset=utf-8" } });
}

/** What the offline page asks of this worker; none of it reaches the server. */
async function answerOfflinePage(request, url) {
  try {
    const what = url.pathname.slice(offlinePage.length + 1);
    if (what === "guardar" && request.method === "POST") {
      const form = await request.formData();
      const path = String(form.get("sentTo"));
      form.delete("sentTo");
      await keep(path, form);
      return Response.json({});
    }
    if (what === "pendientes") return Response.json(await pendingShown());
    if (what === "copias") return Response.json(await copiesShown());
    if (what === "enviar") return Response.json(await sendPending());
    if (what === "descartar") return Response.json(await inStore("readwrite", (store) => store.delete(Number(url.searchParams.get("id")))));
    return new Response(null, { status: 404 });
  } catch {
    // This browser keeps nothing: private windows of some, or no room.
    return new Response(null, { status: 507 });
  }
}

async function copiesShown() {
  const kept = await caches.open(copies);
  const all = await Promise.all(
    (await kept.keys()).map(async (key) => {
      const response = await kept.match(key);
      return {
        path: new URL(key.url).pathname,
        title: decodeURIComponent(response?.headers.get("Page-Title") ?? ""),
        at: at(response),
      };
    }),
  );
  return all.filter((copy) => Date.now() - copy.at < keptFor).sort((a, b) => b.at - a.at);
}

// What waits to be sent.

const opened = () =>
  new Promise((resolve, reject) => {
    const asked = indexedDB.open("tertulia", 1);
    asked.onupgradeneeded = () => asked.result.createObjectStore("pending", { keyPath: "id", autoIncrement: true });
    asked.onsuccess = () => resolve(asked.result);
    asked.onerror = () => reject(asked.error);
  });

async function inStore(mode, act) {
  const db = await opened();
  try {
    return await new Promise((resolve, reject) => {
      const transaction = db.transaction("pending", mode);
      const asked = act(transaction.objectStore("pending"));
      transaction.oncomplete = () => resolve(asked.result ?? null);
      transaction.onabort = () => reject(transaction.error);
    });
  } finally {
    db.close();
  }
}

const allPending = () => inStore("readonly", (store) => store.getAll());

async function keep(path, form) {
  await inStore("readwrite", (store) => store.add({ path, at: Date.now(), entries: [...form] }));
  // Browsers without background sync send when a page is open and the line is back.
  await self.registration.sync?.register("pending").catch(() => {});
}

async function pendingShown() {
  return (await allPending()).map(({ id, at, entries, problem }) => ({
    id,
    at,
    text: entries.filter(([name]) => ["content", "title", "text", "url"].includes(name)).map(([, value]) => value).filter(Boolean).join("\n"),
    files: entries.filter(([, value]) => value instanceof File && value.name).map(([, value]) => value.name),
    problem: problem ?? "",
  }));
}

/** Sends what waits, in order, from one place at a time, whatever the number of tabs. Answers how many still wait. */
async function sendPending() {
  return navigator.locks.request("pending", async () => {
    const pending = await allPending().catch(() => []);
    if (pending.length === 0) return 0;
    const who = await whoIsHere();
    if (!who) return pending.length;
    for (const item of pending) {
      const done = await send(item, who);
      if (done === undefined) break;
      if (done === "") await inStore("readwrite", (store) => store.delete(item.id));
      else await inStore("readwrite", (store) => store.put({ ...item, problem: done }));
    }
    const left = await allPending();
    for (const client of await self.clients.matchAll()) client.postMessage("pending");
    return left.length;
  });
}

/** The person who is signed in, and the token of their forms; undefined if nobody is, or the server can't be reached. */
async function whoIsHere() {
  const answer = await fetch("/conversation/ficha").catch(() => undefined);
  if (!answer?.ok || answer.redirected || !answer.headers.get("Content-Type")?.includes("json")) return undefined;
  return answer.json();
}

/** Empty if it was taken, a sentence if it was refused, undefined if it was not answered: then it waits on. */
async function send({ path, entries }, { formToken, personId }) {
  const form = new FormData();
  for (const [name, value] of entries) form.append(name, value);
  // Written by somebody else, who had signed in here before.
  const writer = form.get("writtenBy");
  if (writer && writer !== personId) return "Lo escribió otra persona en este navegador: se envía cuando ella entre.";
  form.set("formToken", formToken);
  form.set("sentTo", path);
  const answer = await fetch("/conversation/pendientes", { method: "POST", body: form }).catch(() => undefined);
  if (!answer?.headers.get("Content-Type")?.includes("json")) return undefined;
  const { message } = await answer.json();
  return answer.ok ? "" : message;
}

/** Sends what another program has shared with the token of our forms, and goes where it has come. */
async function share(form) {
  const who = await whoIsHere();
  if (who) form.set("formToken", who.formToken);
  const query = new URLSearchParams([...form].filter(([, value]) => typeof value === "string"));
  if (!who) return Response.redirect(`/compartir?${query}`, 303);
  const answer = await fetch("/compartir", { method: "POST", body: form });
  return Response.redirect(answer.url, 303);
}
