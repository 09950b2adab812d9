import { io } from "socket.io-client";
import { showToast } from "../overlays/toasts.tsx";
// The sign of a lost line has to be there before the line is lost.
import "../overlays/toast.tsx";
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
    removeEventListener("pagehide", rest);
    removeEventListener("pageshow", goOn);
    socket.disconnect();
  };
}
