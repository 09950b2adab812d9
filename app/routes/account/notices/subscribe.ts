/** Subscription of this browser at its push service, as the form sends it. */
export type Subscribed = { endpoint: string; p256dh: string; auth: string };

/** Whether this browser can take notices here: private windows of some browsers can't, nor can pages without HTTPS. */
export const canSubscribe = (): boolean =>
  "Notification" in window && "PushManager" in window && navigator.serviceWorker !== undefined;

/** Asks the person, and then the browser's push service, for notices. Returns the subscription, or a sentence about the failure. */
export async function subscribe(key: string): Promise<Subscribed | string> {
  if ((await Notification.requestPermission()) !== "granted") {
    return "El navegador no deja que este sitio avise. Se cambia en los permisos de este sitio.";
  }
  // `ready` would wait for ever where the browser has refused the worker.
  if (!(await navigator.serviceWorker.getRegistration())) {
    return "Este navegador no deja que este sitio siga aquí cuando se cierra, y sin eso no puede avisar.";
  }
  try {
    const { pushManager } = await navigator.serviceWorker.ready;
    // A subscription that was made with another key of this installation can neither be used nor be replaced.
    await (await pushManager.getSubscription())?.unsubscribe();
    const made = await pushManager.subscribe({ userVisibleOnly: true, applicationServerKey: key });
    const { endpoint = "", keys: { p256dh = "", auth = "" } = {} } = made.toJSON();
    return { endpoint, p256dh, auth };
  } catch {
    return "El servicio de avisos de este navegador no contesta, o no deja avisar. Vuelve a intentarlo más tarde.";
  }
}
