import { io } from "socket.io-client";
import { setAnswers } from "./revisits.tsx";
import { showToast } from "./toasts.tsx";

// The seed's figures (§7, §9), in ms.
export const options = {
  path: "/engine.io",
  transports: ["websocket"],
  reconnectionAttempts: Number.POSITIVE_INFINITY,
  reconnectionDelay: 1000,
  reconnectionDelayMax: 5000,
  randomizationFactor: 0.5,
  timeout: 20_000,
};
// One write may tell several things.
const together = 50;

/** Opens the connection and refreshes at each word of a change; answers how to end it. Losing it is told once, and so is not getting it back. */
export function connect(refresh: () => void): () => void {
  const socket = io(options);
  const told = new Set<string>();
  const tell = (title: string) => {
    if (!told.has(title)) showToast({ type: "error", title });
    told.add(title);
  };
  // The page goes where the server says, once nothing is being written in it: sending that asks to sign in again.
  const endSession = () => {
    refresh();
    // Signed in again in a dialog, or told so by an old cookie, the page is still there.
    clearTimeout(again);
    again = setTimeout(() => socket.connect(), options.reconnectionDelayMax);
  };
  let waiting: ReturnType<typeof setTimeout> | undefined;
  let again: ReturnType<typeof setTimeout> | undefined;
  socket.on("connect", () => {
    told.clear();
    setAnswers(true);
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
    tell("Conexión perdida con el servidor");
  });
  socket.on("connect_error", () => {
    // Refused by the server itself, it does not try again.
    if (socket.active) tell("Error de conexión con el servidor");
    else endSession();
  });
  // A page kept for «back» may hold no connection.
  const rest = () => socket.disconnect();
  const goOn = ({ persisted }: PageTransitionEvent) => persisted && socket.connect();
  addEventListener("pagehide", rest);
  addEventListener("pageshow", goOn);
  return () => {
    clearTimeout(waiting);
    clearTimeout(again);
    removeEventListener("pagehide", rest);
    removeEventListener("pageshow", goOn);
    socket.disconnect();
  };
}
