import { type ReactNode, use } from "react";
import {
  isRouteErrorResponse,
  Links,
  Meta,
  Outlet,
  Scripts,
  useLocation,
  useMatches,
  useRouteError,
  useRouteLoaderData,
} from "react-router";
import type { Route } from "./+types/root";
import "./app.css";
import { sessionContext } from "./context.ts";
import { readForm } from "./form.server.ts";
import { SignInAgain } from "./routes/auth/sign-in-again.tsx";
import { ErrorPage } from "./ui/error-page.tsx";
import { FormToken } from "./ui/post-form.tsx";

export const middleware: Route.MiddlewareFunction[] = [readForm];

export function loader({ context }: Route.LoaderArgs) {
  const session = context.get(sessionContext);
  return { formToken: session.formToken };
}

export const meta: Route.MetaFunction = ({ error }) => {
  if (!error) return [{ title: "Tertulia" }];
  const missing = isRouteErrorResponse(error) && error.status === 404;
  return [{ title: `${missing ? "Página no encontrada" : "Algo ha fallado"} · Tertulia` }];
};

export function Layout({ children }: { children: ReactNode }) {
  const token = useRouteLoaderData<typeof loader>("root")?.formToken ?? "";
  const scripts = useMatches().some(({ handle }) => (handle as { scripts?: boolean } | undefined)?.scripts);
  return (
    <html lang="es">
      <head>
        <meta charSet="utf-8" />
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        <meta name="color-scheme" content="dark" />
        <link rel="icon" href="/favicon.svg" type="image/svg+xml" />
        <Meta />
        <Links />
      </head>
      <body>
        <p>
          <a className="skip" href="#contenido">
            Saltar al contenido
          </a>
        </p>
        <FormToken value={token}>{children}</FormToken>
        {scripts && <Scripts />}
      </body>
    </html>
  );
}

export default function Root() {
  return <Outlet />;
}

export function ErrorBoundary() {
  const error = useRouteError();
  const { pathname, search } = useLocation();
  const current = use(FormToken);
  // Middleware fails before any loader has run: what it throws carries the token that its page needs.
  const token = (isRouteErrorResponse(error) && error.data?.formToken) || current;
  return (
    <FormToken value={token}>
      {isRouteErrorResponse(error) && error.status === 401 ? (
        <SignInAgain {...error.data} />
      ) : (
        <ErrorPage error={error} path={pathname + search} />
      )}
    </FormToken>
  );
}
