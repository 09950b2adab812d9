import { isRouteErrorResponse } from "react-router";
import { io, type Socket } from "socket.io-client";
import { showToast } from "../overlays/toasts.tsx";
// The toast for a lost connection has to be loaded before the connection is lost.
import "../overlays/toast.tsx";
import { onUnanswered } from "../forms/send-form.ts";
import { isWriting } from "../forms/writing.ts";
import { isKept } from "./offline.ts";
import { setAnswers } from "./revisits.tsx";

// Delays in ms.
export const options = {
  path: "/engine.io",
  transports: ["websocket"],
  reconnectionAttempts: Number.POSITIVE_INFINITY,
  reconnectionDelay: 1000,
  reconnectionDelayMax: 5000,
  randomizationFactor: 0.5,
  timeout: 20_000,
};
// In ms: how long a click or a message waits for a server that restarts. `kept`: a copy can be shown and a message be kept; `alone`: not.
const patience = { kept: 6_000, alone: 60_000 };
const waitsFor = () => (isKept() ? patience.kept : patience.alone);
// In ms.
const settles = 50;
// In ms: several notices of one write cause one refresh.
const together = 50;

/** Opens the connection and refreshes at each notice; returns a function that closes it. A lost connection is reported once. */
export function connect(refresh: () => void): () => void {
  const socket = io(options);
  const told = new Set<string>();
  const tell = (title: string) => {
    if (!told.has(title)) showToast({ type: "error", title });
    told.add(title);
  };
  // After the session has ended, go to sign-in unless something is being written; sending that will ask to sign in.
  const endSession = () => {
    refresh();
    // If the page is still open (signed in again in the dialog, or the socket had used an old cookie), connect again.
    clearTimeout(again);
    again = setTimeout(() => socket.connect(), options.reconnectionDelayMax);
  };
  const clicks = new HeldClicks();
  sendOnceBack(socket, tell);
  let waiting: ReturnType<typeof setTimeout> | undefined;
  let again: ReturnType<typeof setTimeout> | undefined;
  socket.on("connect", () => {
    told.clear();
    setAnswers(true);
    clicks.goOn();
    refresh();
  });
  socket.on("changed", () => {
    clearTimeout(waiting);
    waiting = setTimeout(refresh, together);
  });
  socket.on("disconnect", (reason) => {
    if (reason === "io client disconnect") return;
    if (reason === "io server disconnect") return endSession();
    setAnswers(false);
    clicks.hold();
    tell("Conexión perdida con el servidor");
  });
  socket.on("connect_error", () => {
    // socket.io does not reconnect when the server refused the connection.
    if (socket.active) tell("Error de conexión con el servidor");
    else endSession();
  });
  // A page in the back/forward cache may not hold a connection.
  const rest = () => socket.disconnect();
  const goOn = ({ persisted }: PageTransitionEvent) => persisted && socket.connect();
  addEventListener("pagehide", rest);
  addEventListener("pageshow", goOn);
  return () => {
    clearTimeout(waiting);
    clearTimeout(again);
    clicks.stop();
    onUnanswered(async () => false);
    removeEventListener("pagehide", rest);
    removeEventListener("pageshow", goOn);
    socket.disconnect();
  };
}

/** Sends a message that the server has not answered once more when the connection is back. */
function sendOnceBack(socket: Socket, tell: (title: string) => void): void {
  let retried: unknown;
  onUnanswered(async (form, error) => {
    // A form with a key makes one message, however often it is sent; if it fails again, the person is told. Other buttons of the composer
    // send no message.
    const key = form.get("key");
    const isMessage = key !== null && key === keyOfComposer() && !form.has("intent") && !form.has("remove");
    if (!isMessage || key === retried || isRouteErrorResponse(error) || !navigator.onLine) return false;
    retried = key;
    tell("El servidor no contesta. Lo que has escrito se enviará en cuanto vuelva.");
    // A connection that has not noticed the loss yet does not prove that the server answers.
    if (socket.connected) socket.disconnect().connect();
    const isBack = await new Promise<boolean>((resolve) => {
      setTimeout(() => resolve(false), waitsFor());
      socket.once("connect", () => resolve(true));
    });
    // Runs once the page has got the form back as it was. The page may have been left meanwhile.
    const sendAgain = () => key === keyOfComposer() && composer()?.requestSubmit();
    if (isBack) setTimeout(sendAgain, settles);
    return isBack;
  });
}

const composer = () => document.querySelector<HTMLFormElement>("form#composer");
const keyOfComposer = () => composer()?.querySelector<HTMLInputElement>("input[name=key]")?.value;

// Links that close a dialog or copy a text need no page.
const followed = "a[href]:not([data-close], [data-copy])";

/** Holds clicks on links while the server restarts: a page that can't be loaded would lose the text typed in this one. */
class HeldClicks {
  #wanted: HTMLAnchorElement | undefined;
  #timer: ReturnType<typeof setTimeout> | undefined;

  hold(): void {
    addEventListener("click", this.#onClick, true);
  }

  /** Lets clicks pass again, and forgets the last one. */
  stop(): void {
    clearTimeout(this.#timer);
    removeEventListener("click", this.#onClick, true);
    this.#wanted = undefined;
  }

  /** Follows the last link that was clicked. */
  goOn(): void {
    const link = this.#wanted;
    this.stop();
    if (link?.isConnected) link.click();
  }

  #onClick = (event: MouseEvent) => {
    const link = event.target instanceof Element ? event.target.closest<HTMLAnchorElement>(followed) : null;
    const isOurs = link && link.origin === location.origin && !link.download && !link.target;
    if (!isOurs || (link.hash && link.pathname === location.pathname)) return;
    if (event.button || event.metaKey || event.ctrlKey || event.shiftKey || event.altKey) return;
    event.preventDefault();
    event.stopPropagation();
    if (!this.#wanted)
      showToast({ type: "warning", title: "El servidor no contesta. Sigues aquí; se abre en cuanto vuelva." });
    this.#wanted = link;
    clearTimeout(this.#timer);
    // There may be a copy of the page, but not of typed text.
    if (!isKept() || isWriting()) return;
    this.#timer = setTimeout(() => {
      this.goOn();
      this.hold();
    }, patience.kept);
  };
}
