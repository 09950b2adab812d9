/** Sends the browser to another site: by itself after loading, and by a link. A form may not lead to another site (CSP); a page may. */
export function LeadingOut({ to, children }: { to: string; children: string }) {
  return (
    <>
      <meta httpEquiv="refresh" content={`0;url=${to}`} />
      <p className="mt-6">
        <a className="button primary" href={to}>
          {children}
        </a>
      </p>
    </>
  );
}
