import { useNavigation } from "react-router";

/** A line across the top while a page is on its way. How long it waits, grows, stays and fades is in `parts.css`. */
export function LoadingBar() {
  const loading = useNavigation().state !== "idle";
  return <div className="loading-bar" data-loading={loading || undefined} aria-hidden="true" />;
}
