import { redirect } from "react-router";
import { DashboardPage } from "../../../ui/dashboard-page.tsx";
import { PostForm } from "../../../ui/forms/post-form.tsx";
import { titled } from "../../../ui/navigation/page-title.ts";
import { apiContext, ipContext } from "../../../web/context.ts";
import type { Route } from "./+types/diagnosis";
import { beginDiagnosis, checkHeaders } from "./diagnosis.server.ts";

export const meta = titled("Diagnóstico");

// Empty loader: without one, client navigations would skip the layout's middleware.
export const loader = () => null;

export async function action({ request, context, url }: Route.ActionArgs) {
  const checks = checkHeaders(request.headers, url, context.get(ipContext));
  return redirect(`/admin/sistema/diagnostico/${await beginDiagnosis(context.get(apiContext), checks)}`, 303);
}

export default function Diagnosis() {
  return (
    <DashboardPage width="document" up={["/admin/sistema", "Sistema"]}>
      <h1>Diagnóstico</h1>
      <p className="mt-4">
        El servidor escribe una página de diez líneas, una cada tres décimas de segundo, como escribe una respuesta.
        Cada línea lleva una imagen diminuta: cuando tu navegador la pide, el servidor sabe que la ha visto. Si llegan
        todas a la vez, algo las retiene por el camino.
      </p>
      {/* A full document load, because only a document grows visibly. */}
      <PostForm className="mt-5" reloadDocument>
        <button type="submit" className="button primary">
          Empezar
        </button>
      </PostForm>
    </DashboardPage>
  );
}
