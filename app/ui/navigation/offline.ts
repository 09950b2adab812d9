/** Registers the service worker, which keeps read pages and unsent forms, and tells it when the browser is online again. */
export function keepOffline(): void {
  const { serviceWorker } = navigator;
  // Absent without HTTPS. Private windows of some browsers refuse; nothing depends on it.
  serviceWorker?.register("/sw.js").catch(() => {});
  addEventListener("online", () => serviceWorker?.controller?.postMessage("online"));
}

/** Whether the service worker looks after this page. */
export const isKept = () => Boolean(navigator.serviceWorker?.controller);

/** Hands a form that could not be sent to the service worker, and shows where it waits. False if it can't be kept. */
export async function keepForm(form: FormData, path: string): Promise<boolean> {
  form.set("sentTo", path);
  const kept = await fetch("/sin-conexion/guardar", { method: "POST", body: form }).catch(() => undefined);
  if (!kept?.ok) return false;
  location.assign("/sin-conexion#pendientes");
  return true;
}
