import { read } from "../../web/api-result.server.ts";
import { apiContext, type Context } from "../../web/context.ts";

/** Something to be done in a new house; `done` is found out from the data that exist. */
export type FirstStep = { name: string; line: string; to: string; done: boolean };

/** `answers`: whether a model has answered; `mails`: whether e-mail can be sent; `copies`: whether copies are made here. */
type Known = { answers: boolean; mails: boolean; copies: boolean };

const one = { query: { limit: "1" } };

/** The first steps of whoever administers a new house; none once all are done. */
export async function firstSteps(context: Context, { answers, mails, copies }: Known): Promise<FirstStep[]> {
  const { api } = context.get(apiContext);
  const [users, invitations, subscriptions, groups, backups] = await Promise.all([
    read(api.user.$get(one)),
    read(api.invitation.$get(one)),
    read(api.subscription.$get(one)),
    read(api.group.$get(one)),
    copies ? read(api.system.backup.$get()) : undefined,
  ]);
  const steps: FirstStep[] = [
    {
      name: "Que un modelo conteste",
      line: "Conecta uno y pruébalo aquí mismo. Hasta entonces, el asistente local busca en lo escrito.",
      to: "/admin/model",
      done: answers,
    },
    {
      name: "Invitar a quien la va a usar",
      line: "Con un enlace, con la cuenta de la organización, o a mano.",
      to: "/admin/invitation",
      done: users.total > 1 || invitations.total > 0,
    },
    {
      name: "Poner límites",
      line: "De mensajes y de espacio a cada persona, o de gasto a un grupo.",
      to: "/admin/subscription",
      done: subscriptions.total > users.total || groups.total > 0,
    },
    ...(backups
      ? [
          {
            name: "Hacer una copia",
            line: "De la base de datos y los archivos, para guardarla en otro sitio.",
            to: "/admin/sistema",
            done: backups.items.length > 0,
          },
        ]
      : []),
    {
      name: "Enviar correo",
      line: "Con SMTP_URL llegan las contraseñas olvidadas y lo que se escribe en los formularios.",
      to: "/admin/sistema",
      done: mails,
    },
  ];
  return steps.every(({ done }) => done) ? [] : steps;
}
