import { forgetSeen } from "../../../ui/navigation/pages-seen.ts";
import { showToast } from "../../../ui/overlays/toasts.tsx";

type Leaving = {
  id: string;
  formToken: string;
  revalidate(): Promise<void>;
  navigate(to: string): void | Promise<void>;
};

// In ms: long enough to read the notice and reach for the mouse.
const undoFor = 10_000;

// In ms: as long as the navigation away may take before it counts as blocked, because something is being sent.
const leftWithin = 10_000;

/** Leaves a chat, hides it from all lists, and deletes it after ten seconds without «Deshacer», or when the page is left. */
export async function deleteLater({ id, formToken, revalidate, navigate }: Leaving): Promise<void> {
  const path = `/conversation/chat/${id}`;
  void navigate("/conversation/chat");
  if (!(await hasLeft(path))) return;
  const hidden = new CSSStyleSheet();
  hidden.replaceSync(`li:has(> a[href="${path}"], > * > a[href="${path}"]) { display: none }`);
  document.adoptedStyleSheets.push(hidden);
  let settled = false;
  const settle = () => {
    if (settled) return false;
    settled = true;
    removeEventListener("pagehide", remove);
    return true;
  };
  const show = () => {
    document.adoptedStyleSheets = document.adoptedStyleSheets.filter((sheet) => sheet !== hidden);
  };
  const remove = async () => {
    if (!settle()) return;
    if (location.pathname.startsWith(path)) {
      show();
      showToast({ type: "info", title: "No se ha eliminado: has vuelto a abrirla." });
      return;
    }
    const body = new URLSearchParams({ formToken, quietly: "1" });
    const answer = await fetch(`${path}/eliminar`, { method: "POST", body, keepalive: true, redirect: "manual" }).catch(
      () => undefined,
    );
    forgetSeen();
    void revalidate();
    if (answer?.type === "opaqueredirect") return;
    show();
    showToast({ type: "error", title: "No se ha podido eliminar la conversación.", duration: 0 });
  };
  addEventListener("pagehide", remove);
  showToast({
    type: "success",
    title: "Conversación eliminada.",
    duration: undoFor,
    onGone: remove,
    action: {
      label: "Deshacer",
      run: () => {
        if (!settle()) return;
        show();
        void navigate(path);
      },
    },
  });
}

/**
 * Whether a page was left in time. The promise of `navigate` does not tell: it resolves early when the router loads everything again
 * because of somebody else's change.
 */
async function hasLeft(path: string): Promise<boolean> {
  for (const until = Date.now() + leftWithin; location.pathname.startsWith(path); ) {
    if (Date.now() > until) return false;
    await new Promise((resolve) => setTimeout(resolve, 30));
  }
  return true;
}
