/** A way out of the house, by itself and as a link. A form may not lead to another site (CSP); a page may. */
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
