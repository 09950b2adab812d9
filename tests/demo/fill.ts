const password = "una frase larga y rara";
const ana = { name: "Ana Gil", email: "ana@ejemplo.es", what: "administra" };
const bruno = { name: "Bruno Sanz", email: "bruno@ejemplo.es", what: "tiene un plan con límites" };
const carla = { name: "Carla Ríos", email: "carla@ejemplo.es", what: "cuenta inactiva" };

/** The accounts of the demonstration; the first one made is the admin's. */
export const people = { password, all: [ana, bruno, carla] };

/** Fills an empty installation through its API, whose address this is, as people would through its pages. */
export async function fill(url: string): Promise<void> {
  const admin = await signUp(url, ana);
  await untilThereIsAModel(admin);
  const other = await signUp(url, bruno);
  const inactive = await signUp(url, carla);
  await admin.post("/api/subscription", {
    userId: other.id,
    plan: "pro",
    startsAt: new Date().toISOString(),
    messagesPerDay: 40,
    storageMb: 50,
  });
  await admin.send("PATCH", `/api/user/${inactive.id}`, { status: "inactive" });
  await admin.post("/api/training", { title: "Tono", kind: "instruction", content: "Responde con frases cortas." });
  await organise(admin);
  await converse(other, "¿Qué se planta en noviembre?");
  await converse(other, "Una respuesta con formato, por favor");
}

/** Conversations in every state, a project with a document, something shared and something archived. */
async function organise(person: Visitor): Promise<void> {
  const project = await person.post<{ id: string }>("/api/project", {
    name: "El huerto",
    description: "Lo que se siembra y cuándo",
    instructions: "Ten en cuenta que está en Soria, a mil metros.",
  });
  const calendar = Array.from({ length: 12 }, (_, month) => `Mes ${month + 1}: se siembra lo que toca.`).join("\n\n");
  await person.upload([new File([calendar], "calendario.txt")], { projectId: project.id });
  await converse(person, "¿Cuándo siembro las habas?", { projectId: project.id });
  const shared = await converse(person, "Una respuesta con formato, por favor");
  await person.send("PUT", `/api/chat/${shared}/share`, {});
  const pinned = await converse(person, "¿Lleva pan el gazpacho?");
  await person.send("PATCH", `/api/chat/${pinned}`, { pinned: true });
  const archived = await converse(person, "Ideas para un regalo");
  await person.send("PATCH", `/api/chat/${archived}`, { archived: true });
  await converse(person, "Una respuesta cortada");
  await converse(person, "Un error 500");
}

async function converse(person: Visitor, content: string, where: object = {}): Promise<string> {
  const answer = await person.send("POST", "/api/intelligence/conversation", { content, ...where });
  const text = await answer.text();
  return (JSON.parse(text.split("\n\n", 1)[0] ?? "") as { chatId: string }).chatId;
}

type Visitor = Awaited<ReturnType<typeof signUp>>;

async function signUp(url: string, { name, email }: { name: string; email: string }) {
  const send = async (method: string, path: string, json: object, token = ""): Promise<Response> => {
    const headers = { "Content-Type": "application/json", ...(token && { Authorization: `Bearer ${token}` }) };
    const answer = await fetch(url + path, { method, headers, body: JSON.stringify(json) });
    if (!answer.ok) throw new Error(`${method} ${path}: ${await answer.text()}`);
    return answer;
  };
  const token = await (await send("POST", "/auth/signup", { name, email, password })).text();
  const get = async <Answer>(path: string) =>
    (await (await fetch(url + path, { headers: { Authorization: `Bearer ${token}` } })).json()) as Answer;
  const { user } = await get<{ user: { id: string } }>("/auth/session");
  return {
    id: user.id,
    get,
    send: (method: string, path: string, json: object) => send(method, path, json, token),
    post: async <Answer>(path: string, json: object) =>
      (await (await send("POST", path, json, token)).json()) as Answer,
    async upload(files: File[], fields: Record<string, string>): Promise<void> {
      const body = new FormData();
      for (const [field, value] of Object.entries(fields)) body.append(field, value);
      for (const file of files) body.append("files", file);
      const headers = { Authorization: `Bearer ${token}` };
      const answer = await fetch(`${url}/api/file/uploads`, { method: "POST", headers, body });
      if (!answer.ok) throw new Error(await answer.text());
    },
  };
}

type Model = Record<"id" | "provider" | "name" | "externalId" | "baseUrl", string> &
  Record<"position" | "maxOutputTokens", number> & { isDefault: boolean };

/** Models are looked for while the first people come in already. Then it helps no search: on a busy machine it might be too late for that. */
async function untilThereIsAModel({ get, send }: Visitor): Promise<void> {
  for (;;) {
    const { items } = await get<{ items: Model[] }>("/api/model");
    const found = items.find(({ provider }) => provider !== "local");
    if (found) {
      const { id, name, provider, externalId, baseUrl, isDefault, position, maxOutputTokens } = found;
      const said = { name, provider, externalId, baseUrl, isDefault, position, maxOutputTokens };
      const body = { ...said, helpsSearch: false };
      await send("PUT", `/api/model/${id}`, body);
      return;
    }
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
}
