import { type ReactNode, Suspense, use } from "react";
import {
  isRouteErrorResponse,
  Links,
  Meta,
  Outlet,
  Scripts,
  ScrollRestoration,
  useLocation,
  useMatches,
  useRouteError,
  useRouteLoaderData,
} from "react-router";
import type { Route } from "./+types/root";
import { handleOf } from "./ui/navigation/page-handle.ts";
import { loadRoot } from "./web/root-data.server.ts";
import "./app.css";
import { SignInOver } from "./routes/auth/sign-in-over.tsx";
import { FormToken } from "./ui/forms/post-form.tsx";
import { keepShown } from "./ui/forms/unanswered.ts";
import { lazily } from "./ui/lazily.ts";
import { Light } from "./ui/light/light.ts";
import { PageFoot } from "./ui/light/page-foot.tsx";
import { LoadingBar } from "./ui/navigation/loading-bar.tsx";
import { PageName } from "./ui/navigation/page-name.tsx";
import { named } from "./ui/navigation/page-title.ts";
import { unlessSeen } from "./ui/navigation/pages-seen.ts";
import { routeContext } from "./web/context.ts";
import { readForm } from "./web/forms/form.server.ts";
import { askPurpose } from "./web/guards.server.ts";

// The icon, inlined to save a request.
const ownIcon =
  "data:image/svg+xml,%3Csvg%20xmlns='http://www.w3.org/2000/svg'%20viewBox='0%200%2032%2032'%3E%3Crect%20width='32'%20height='32'%20rx='7'%20fill='%2315110d'/%3E%3Crect%20x='11.5'%20y='6'%20width='9'%20height='20'%20rx='1.5'%20fill='%23ecb15a'/%3E%3C/svg%3E";

// Loaded after a failure. If the error page can't be loaded either, `BareError` stands in its place.
const ErrorPage = lazily(() => import("./ui/error-page.tsx"), BareError);

// Loaded lazily: only the page for refused forms needs it.
const SignInAgain = lazily(
  () => import("./routes/auth/sign-in-again.tsx"),
  () => <BareError />,
);

// The flash message, on pages without a place of their own for it. No browser renders those pages again.
const Told = import.meta.env.SSR ? lazily(() => import("./ui/overlays/told.tsx")) : () => null;

export const middleware: Route.MiddlewareFunction[] = [
  ({ context, pattern }) => context.get(routeContext)(`/${pattern.replace(/^\//, "")}`),
  readForm,
  askPurpose,
];
export const clientMiddleware: Route.ClientMiddlewareFunction[] = [keepShown];

export const loader = ({ context, request }: Route.LoaderArgs) => loadRoot({ context, request });

export const shouldRevalidate = unlessSeen;

export const meta: Route.MetaFunction = ({ error, matches }) => {
  if (!error) return [{ title: matches[0].loaderData?.house.name }];
  const missing = isRouteErrorResponse(error) && error.status === 404;
  return named(matches, missing ? "Página no encontrada" : "Algo ha fallado");
};

export function Layout({ children }: { children: ReactNode }) {
  const { formToken = "", house, flash } = useRouteLoaderData<typeof loader>("root") ?? {};
  const handles = useMatches().map(handleOf);
  const asLight = use(Light);
  const scripts = handles.some((handle) => handle?.scripts === "needed" || (handle?.scripts && !asLight));
  // A page with script is not light: the browser renders it again, and does not know that other pages are light.
  const light = asLight && !scripts;
  return (
    <html lang="es">
      <head>
        <meta charSet="utf-8" />
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        <meta name="color-scheme" content="dark" />
        {/* Only in the document: the browser has read these links before it renders the page. */}
        {import.meta.env.SSR && <HouseLinks {...house} />}
        <link rel="manifest" href="/manifest.webmanifest" />
        <Meta />
        <Links />
      </head>
      <body>
        <p>
          <a className="skip" href="#contenido">
            Saltar al contenido
          </a>
        </p>
        {scripts && <LoadingBar />}
        {scripts && <PageName />}
        <FormToken value={formToken}>
          {import.meta.env.SSR && flash && !handles.some((handle) => handle?.tells) && (
            <Suspense>
              <Told {...flash} />
            </Suspense>
          )}
          {children}
          {/* No browser renders a light page again. */}
          {import.meta.env.SSR && light && <PageFoot />}
        </FormToken>
        {scripts && <SignInOver />}
        {scripts && <ScrollRestoration />}
        {scripts && <Scripts />}
      </body>
    </html>
  );
}

/** The icon of the house, or ours, and the house's accent, if any. */
function HouseLinks({ icon, accent }: { icon?: string | null; accent?: string | null }) {
  return (
    <>
      <link rel="icon" href={icon ? `/marca/icono?v=${icon}` : ownIcon} />
      <link rel="apple-touch-icon" href={icon ? `/marca/icono-grande?v=${icon}` : "/icons/apple-180.png"} />
      {accent && <link rel="stylesheet" href={`/marca/estilo/${accent.slice(1)}`} />}
    </>
  );
}

export default function Root() {
  return <Outlet />;
}

export function ErrorBoundary() {
  const error = useRouteError();
  const { pathname, search } = useLocation();
  const current = use(FormToken);
  // When middleware throws, no loader has run, so the thrown data carry the form token for the error page.
  const token = (isRouteErrorResponse(error) && error.data?.formToken) || current;
  return (
    <FormToken value={token}>
      <Suspense>
        {isRouteErrorResponse(error) && error.status === 401 ? (
          // An error while a page is read has no form to carry.
          <SignInAgain formToken={token} personId={null} fields={[]} action={pathname + search} {...error.data} />
        ) : (
          <ErrorPage error={error} path={pathname + search} />
        )}
      </Suspense>
    </FormToken>
  );
}

function BareError({ error }: { error?: unknown }) {
  return (
    <main className="leaf hang" id="contenido">
      <h1>Algo ha fallado</h1>
      {isRouteErrorResponse(error) && <p>{error.data?.message}</p>}
      <a href="?">Volver a intentarlo</a>
    </main>
  );
}
