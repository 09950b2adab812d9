// Pages that were read can be read again without a line, and messages that were written without one are sent once there is one. Copies are
// light pages: their styles are in them and they need no script, so that a copy made by one release is read with any other. They are kept
// for a week, and belong to the person who is signed in: the server says who that is (`Keep-Copy`), and as soon as it is nobody, or
// somebody else, they are deleted. Messages that wait to be sent stay, and are sent when their writer is back.
const offlinePage = "/sin-conexion";
const shell = "shell";
const copies = "copies";
const keptFor = 7 * 24 * 60 * 60_000;
const copiesAtMost = 200;
// In ms. Of a page that is looked at again and again, as while a reply grows, a copy is made this often.
const copyEvery = 30_000;
// In ms.
const tokenWithin = 15_000;
const sendWithin = 5 * 60_000;
const shellEvery = 60 * 60_000;
const copiedAt = new Map();
// Counts how often the copies were deleted: one that was asked for before must not be stored after.
let generation = 0;

self.addEventListener("install", (event) => {
  event.waitUntil(keepShell().then(() => self.skipWaiting()));
});
self.addEventListener("activate", (event) => {
  event.waitUntil(self.clients.claim());
});
self.addEventListener("sync", (event) => {
  // The browser tries again later what is rejected.
  const all = sendPending().then((left) => (left > 0 ? Promise.reject(new Error("not sent yet")) : undefined));
  event.waitUntil(all);
});
self.addEventListener("push", (event) => {
  event.waitUntil(showNotice(event.data));
});
self.addEventListener("pushsubscriptionchange", (event) => {
  event.waitUntil(renewSubscription(event));
});
self.addEventListener("notificationclick", (event) => {
  event.notification.close();
  event.waitUntil(openPage(event.notification.data));
});
self.addEventListener("message", (event) => {
  if (event.data === "online") event.waitUntil(sendPending());
});

self.addEventListener("fetch", (event) => {
  const { request } = event;
  const url = new URL(request.url);
  if (url.origin !== location.origin) return;
  // Only pages of ours can ask otherwise than by going there.
  if (url.pathname.startsWith(`${offlinePage}/`) && request.mode !== "navigate") {
    return event.respondWith(answerOfflinePage(request, url));
  }
  if (request.method === "POST" && request.mode === "navigate") return takeForm(event, url);
  if (request.method === "POST" && url.pathname === "/compartir.data") return event.respondWith(takeShared(request));
  if (request.method !== "GET") return;
  if (request.mode === "navigate") return event.respondWith(showOrRecall(event, url));
  if (url.pathname.endsWith(".data")) return event.respondWith(fetchData(event, url));
  if (/^\/(assets|icons|marca)\/|\.(css|js|svg)$/.test(url.pathname)) {
    event.respondWith(fetch(request).catch(() => fromShellOrLater(request)));
  }
});

/** The page that is shown without a line, with what it needs. */
async function keepShell() {
  const page = await fetch(offlinePage, { credentials: "omit" });
  if (!page.ok) return;
  const html = await page.clone().text();
  const parts = [...html.matchAll(/(?:href|src)="(\/(?:marca\/[^"#]+|[^"#]+\.(?:css|js|svg)[^"#]*))/g)].map(([, path]) => path);
  const kept = await caches.open(shell);
  // First its parts: without them the page would be of no use.
  await kept.addAll([...new Set(parts), "/icons.svg"]);
  await kept.put(offlinePage, page);
}

const isShellOld = async () => {
  const kept = await caches.match(offlinePage, { cacheName: shell });
  return kept !== undefined && Date.now() - Date.parse(kept.headers.get("Date") ?? "") > shellEvery;
};

const fromShell = async (request) => (await caches.match(request, { cacheName: shell })) ?? Response.error();

// In ms.
const waitsForModule = 60_000;
const moduleAgainAfter = 1000;

/**
 * A part of the page from the shell; a module is waited for until the server is back: without it, the router would load the document anew, and what
 * is typed in it would be lost.
 */
async function fromShellOrLater(request) {
  const kept = await fromShell(request);
  if (kept.type !== "error" || !/\/assets\/.*\.js$/.test(request.url)) return kept;
  for (const since = Date.now(); navigator.onLine && Date.now() - since < waitsForModule; ) {
    await new Promise((resolve) => setTimeout(resolve, moduleAgainAfter));
    const response = await fetch(request).catch(() => undefined);
    if (response) return response;
  }
  return kept;
}

// Reading.

/** A page from the server, else its copy, else the page that says that there is no line. */
async function showOrRecall(event, url) {
  try {
    const response = await fetch(event.request);
    event.waitUntil(noteShown(response, url));
    return response;
  } catch {
    const copy = await caches.match(url.pathname, { cacheName: copies }).catch(() => undefined);
    if (!copy || url.pathname === offlinePage || isOld(copy)) return fromShell(offlinePage);
    // Each text that is written in it is another message.
    const html = (await copy.text()).replace(/name="key" value="[^"]*"/g, () => `name="key" value="${crypto.randomUUID()}"`);
    return new Response(html, { headers: copy.headers });
  }
}

/** Answers that a script asks for instead of a page: they say whether the page may be kept. */
async function fetchData(event, url) {
  const response = await fetch(event.request);
  const shown = new URL(url);
  shown.pathname = url.pathname.replace(/\.data$/, "");
  event.waitUntil(noteShown(response, shown));
  return response;
}

async function noteShown(response, { pathname }) {
  // People who are signed in never see these pages.
  if (response.ok && (pathname === "/auth/signin" || pathname === "/auth/salida")) return belongTo("");
  if (response.status === 404 || response.status === 410) await (await caches.open(copies)).delete(pathname);
  const owner = response.headers.get("Keep-Copy");
  if (owner) {
    await belongTo(owner);
    await copyLater(pathname, owner);
  }
  if (pathname !== offlinePage) await sendPending();
  // The house may have another name and logo by now.
  if (await isShellOld()) await keepShell().catch(() => {});
}

/** From here on the copies are `owner`'s; those of somebody else are deleted. */
const belongTo = (owner) =>
  navigator.locks.request("owner", async () => {
    const before = await currentOwner();
    if (owner && owner === before) return;
    // Notices that a push service still has for somebody who has left are not shown to the next person.
    if (before || !owner) await (await self.registration.pushManager?.getSubscription())?.unsubscribe();
    generation++;
    copiedAt.clear();
    await caches.delete(copies);
    await inStore("about", "readwrite", (store) => store.delete("shared")).catch(() => {});
    await inStore("about", "readwrite", (store) => store.put({ name: "owner", value: owner })).catch(() => {});
  });

const currentOwner = async () =>
  (await inStore("about", "readonly", (store) => store.get("owner")).catch(() => undefined))?.value ?? "";

async function copyLater(path, owner) {
  const now = Date.now();
  if (now - (copiedAt.get(path) ?? 0) < copyEvery) return;
  copiedAt.set(path, now);
  const asked = generation;
  try {
    const page = await fetch(path, { headers: { "Make-Copy": "1" } });
    if (!page.ok || page.redirected || page.headers.get("Keep-Copy") !== owner) return await page.body?.cancel();
    const html = await page.text();
    const headers = new Headers(page.headers);
    headers.set("Copied-At", String(now));
    headers.set("Page-Title", encodeURIComponent(/<title>([^<]*)/.exec(html)?.[1] ?? path));
    if (asked !== generation) return;
    const kept = await caches.open(copies);
    await kept.put(path, new Response(html, { headers }));
    if (asked !== generation) return await kept.delete(path);
    await forgetOld(kept);
  } catch {
    // No line, or no room in this browser: what was kept before is still there.
  }
}

async function forgetOld(kept) {
  const all = await Promise.all((await kept.keys()).map(async (key) => ({ key, copy: await kept.match(key) })));
  all.sort((a, b) => at(b.copy) - at(a.copy));
  const old = all.filter(({ copy }, place) => place >= copiesAtMost || isOld(copy));
  await Promise.all(old.map(({ key }) => kept.delete(key)));
}

const at = (copy) => Number(copy?.headers.get("Copied-At") ?? 0);
const isOld = (copy) => Date.now() - at(copy) > keptFor;

async function copiesShown() {
  const kept = await caches.open(copies);
  const all = await Promise.all(
    (await kept.keys()).map(async (key) => {
      const copy = await kept.match(key);
      const title = decodeURIComponent(copy?.headers.get("Page-Title") ?? "");
      return { path: new URL(key.url).pathname, title, at: at(copy) };
    }),
  );
  // Pages for writing have nothing to read.
  return all
    .filter((copy) => Date.now() - copy.at < keptFor && copy.path !== "/conversation/chat")
    .sort((a, b) => b.at - a.at);
}

// Notices.

/** A notice of the server. One with the same tag takes the place of the one before. Another person's message says nothing of theirs. */
async function showNotice(data) {
  let told = {};
  try {
    told = data.json();
  } catch {
    // Browsers want something shown for all that comes.
  }
  const owner = await currentOwner();
  const isTheirs = Boolean(told.to) && (owner === "" || owner === told.to);
  const { title, body, path, tag } = isTheirs ? told : { title: "Hay una respuesta nueva", body: "", path: "/conversation/chat" };
  await self.registration.showNotification(title, { body, tag, lang: "es", icon: "/marca/icono-grande", data: path });
}

/** The browser has changed the address of its notices by itself. The server takes the new one if this session had one before. */
async function renewSubscription({ newSubscription, oldSubscription }) {
  const who = await whoIsHere();
  if (!who) return;
  const options = oldSubscription?.options;
  const renewed = newSubscription ?? (options && (await self.registration.pushManager.subscribe(options)));
  if (!renewed) return;
  const { endpoint, keys } = renewed.toJSON();
  const body = new URLSearchParams({ formToken: who.formToken, intent: "renew", endpoint, ...keys });
  await fetch("/user/dispositivos", { method: "POST", body, redirect: "manual" });
}

/** Shows the page where it is open, else in a window of its own: elsewhere somebody may be writing. */
async function openPage(asked) {
  const path = /^\/(?!\/)/.test(asked) ? asked : "/conversation/chat";
  const open = await self.clients.matchAll({ type: "window" });
  const there = open.find(({ url }) => new URL(url).pathname === path);
  return there ? there.focus() : self.clients.openWindow(path);
}

// Writing.

/** A form that leaves the page. Only our own pages say where they come from (`Referrer-Policy: same-origin`): what another site sends is never kept. */
function takeForm(event, url) {
  const isOurs = event.request.referrer.startsWith(`${location.origin}/`);
  if (url.pathname === "/compartir" && !isOurs) return event.respondWith(keepShared(event.request));
  if (isOurs) event.respondWith(sendOrKeep(event, url.pathname));
}

/** A form that is sent, or kept to be sent later if it can be: one with a key makes one message however often it is sent. */
async function sendOrKeep({ request }, path) {
  const kept = request.clone();
  try {
    return await fetch(request);
  } catch {
    const form = await kept.formData();
    if (!canWait(form)) return fromShell(offlinePage);
    return keep(path, form).then(
      () => Response.redirect(`${offlinePage}#pendientes`, 303),
      () => noRoom(form),
    );
  }
}

/** Whether it is a message that says who has written it; the composer's other buttons do something that only the server can. */
const canWait = (form) =>
  ["key", "content", "writtenBy"].every((name) => form.get(name)) && !form.get("intent") && !form.has("remove");

/** Shared files of another program wait here until the person says in the form of `/compartir` that it is to be taken. */
async function keepShared(request) {
  const entries = [...(await request.formData())];
  const kept = await inStore("about", "readwrite", (store) => store.put({ name: "shared", value: entries })).catch(() => undefined);
  if (kept) return Response.redirect("/compartir?recibido", 303);
  const texts = entries.filter(([, value]) => typeof value === "string");
  return Response.redirect(`/compartir?${new URLSearchParams(texts)}`, 303);
}

/** Gives what was shared to the form; it stays until that was accepted, or the next is shared. */
async function showShared() {
  const shared = await inStore("about", "readonly", (store) => store.get("shared"));
  const form = new FormData();
  for (const [name, value] of shared?.value ?? []) form.append(name, value);
  return new Response(form);
}

async function takeShared(request) {
  const response = await fetch(request);
  if (response.ok) await inStore("about", "readwrite", (store) => store.delete("shared")).catch(() => {});
  return response;
}

/** The text is in the answer, so that nothing that was typed is lost. */
function noRoom(form) {
  const text = String(form.get("content")).replace(/[&<]/g, (character) => (character === "&" ? "&amp;" : "&lt;"));
  const page = `<!doctype html><html lang="es"><meta charset="utf-8"><meta name="viewport" content="width=device-width"><meta name="color-scheme" content="dark"><title>Sin conexión</title><h1>No se ha podido guardar</h1><p>No hay conexión, y en este navegador no queda sitio o no se le deja guardar nada. Copia el texto y envíalo luego:</p><textarea rows="12" cols="40">${text}</textarea></html>`;
  return new Response(page, { status: 507, headers: { "Content-Type": "text/html; charset=utf-8" } });
}

/** Questions of our pages to this worker; none of them reaches the server. */
async function answerOfflinePage(request, url) {
  try {
    const what = url.pathname.slice(offlinePage.length + 1);
    if (what === "guardar" && request.method === "POST") {
      const form = await request.formData();
      const path = String(form.get("sentTo"));
      form.delete("sentTo");
      if (!canWait(form)) return new Response(null, { status: 400 });
      await keep(path, form);
      return Response.json({});
    }
    if (what === "pendientes") return Response.json(await pendingShown());
    if (what === "copias") return Response.json(await copiesShown());
    if (what === "compartido") return await showShared();
    if (what === "enviar") return Response.json(await sendPending({ again: true }));
    if (what === "descartar") return Response.json(await discard(Number(url.searchParams.get("id"))));
    return new Response(null, { status: 404 });
  } catch {
    // This browser keeps nothing: private windows of some, or no room.
    return new Response(null, { status: 507 });
  }
}

const opened = () =>
  new Promise((resolve, reject) => {
    const asked = indexedDB.open("tertulia", 1);
    asked.onupgradeneeded = () => {
      asked.result.createObjectStore("pending", { keyPath: "id", autoIncrement: true });
      asked.result.createObjectStore("about", { keyPath: "name" });
    };
    asked.onsuccess = () => resolve(asked.result);
    asked.onerror = () => reject(asked.error);
  });

async function inStore(name, mode, act) {
  const db = await opened();
  try {
    return await new Promise((resolve, reject) => {
      const transaction = db.transaction(name, mode);
      const asked = act(transaction.objectStore(name));
      transaction.oncomplete = () => resolve(asked.result ?? null);
      transaction.onabort = () => reject(transaction.error);
    });
  } finally {
    db.close();
  }
}

const allPending = () => inStore("pending", "readonly", (store) => store.getAll());
const discard = (id) => inStore("pending", "readwrite", (store) => store.delete(id));

async function keep(path, form) {
  const written = { path, at: Date.now(), entries: [...form], writer: form.get("writtenBy"), problem: "" };
  await inStore("pending", "readwrite", (store) => store.add(written));
  // Browsers without background sync send when a page is open and the line is back.
  await self.registration.sync?.register("pending").catch(() => {});
}

/** Waiting messages; of another person's only that they wait. */
async function pendingShown() {
  const owner = await currentOwner();
  return (await allPending()).map(({ id, at: since, entries, writer, problem }) =>
    writer === owner
      ? {
          id,
          at: since,
          text: String(entries.find(([name]) => name === "content")?.[1] ?? ""),
          files: entries.filter(([, value]) => value instanceof File && value.name).map(([, value]) => value.name),
          problem,
        }
      : { id, at: since, text: "", files: [], problem: "Lo escribió otra persona en este navegador: se envía cuando entre." },
  );
}

/**
 * Sends what waits, in order, from one place at a time, whatever the number of tabs. A refused message is sent `again` only if the person
 * says so. Answers how many are still to be sent by themselves.
 */
async function sendPending({ again = false } = {}) {
  // Somebody else is at it already, and takes what has come meanwhile the next time.
  return navigator.locks.request("pending", { ifAvailable: !again }, async (lock) => {
    const pending = lock ? (await allPending().catch(() => [])).filter(({ problem }) => again || !problem) : [];
    if (pending.length === 0) return 0;
    const who = await whoIsHere();
    if (!who) return pending.length;
    await belongTo(who.personId);
    // Later messages of a conversation wait for the earlier ones.
    const held = new Set();
    let left = 0;
    for (const item of pending) {
      if (item.writer !== who.personId || held.has(item.path)) continue;
      const { sent, problem = "" } = await send(item, who);
      if (sent) {
        await discard(item.id);
        continue;
      }
      held.add(item.path);
      if (problem) await inStore("pending", "readwrite", (store) => store.put({ ...item, problem }));
      else left++;
    }
    for (const client of await self.clients.matchAll()) client.postMessage("pending");
    return left;
  });
}

/** The person who is signed in, and the token of their forms; undefined if nobody is, or the server can't be reached. */
async function whoIsHere() {
  const signal = AbortSignal.timeout(tokenWithin);
  const answer = await fetch("/conversation/ficha", { signal }).catch(() => undefined);
  if (!answer?.ok || answer.redirected || !answer.headers.get("Content-Type")?.includes("json")) return undefined;
  return answer.json().catch(() => undefined);
}

// Not signed in, another token, too slow, too often, a reply that is being written: all of these pass.
const passing = new Set([401, 403, 408, 409, 429]);

/** Whether it was taken, or the sentence that it is refused with; neither if it is to be tried again. */
async function send({ path, entries }, { formToken }) {
  const form = new FormData();
  for (const [name, value] of entries) form.append(name, value);
  form.set("formToken", formToken);
  form.set("sentTo", path);
  const asked = { method: "POST", body: form, signal: AbortSignal.timeout(sendWithin) };
  const answer = await fetch("/conversation/pendientes", asked).catch(() => undefined);
  if (!answer) return {};
  const isRead = answer.headers.get("Content-Type")?.includes("json");
  if (answer.ok) return isRead ? { sent: true } : {};
  if (answer.status >= 500 || passing.has(answer.status)) return {};
  const { message } = isRead ? await answer.json().catch(() => ({})) : {};
  return { problem: message || `El servidor no lo ha aceptado (${answer.status}).` };
}
