let isTelling = false;

/**
 * Has forms with files say how much of them has arrived, in the cover of the page. The router sends forms with `fetch`, which tells no
 * progress of a request; XMLHttpRequest does.
 */
export function tellProgress(): void {
  if (isTelling) return;
  isTelling = true;
  const usual = window.fetch;
  window.fetch = (input, init) => (input instanceof Request && isOfFiles(input) ? post(input) : usual(input, init));
}

const isOfFiles = ({ headers }: Request) => headers.get("Content-Type")?.startsWith("multipart/form-data");

async function post(form: Request): Promise<Response> {
  const body = await form.formData();
  return new Promise((resolve, reject) => {
    const request = new XMLHttpRequest();
    request.open(form.method, form.url);
    request.responseType = "blob";
    request.upload.addEventListener("progress", ({ loaded, total }) => tell(loaded, total));
    request.addEventListener("load", () => resolve(answerOf(request)));
    // As `fetch` does.
    request.addEventListener("error", () => reject(new TypeError("Failed to fetch")));
    form.signal.addEventListener("abort", () => {
      request.abort();
      reject(form.signal.reason);
    });
    request.send(body);
  });
}

function tell(loaded: number, total: number): void {
  const words = document.querySelector(".busy p");
  if (words && total > 0)
    words.textContent = loaded < total ? `Subiendo: ${Math.floor((100 * loaded) / total)} %` : "Un momento…";
}

function answerOf(request: XMLHttpRequest): Response {
  const { status, response } = request;
  const lines = request
    .getAllResponseHeaders()
    .trim()
    .split(/[\r\n]+/);
  const headers = lines.map((line): [string, string] => [
    line.slice(0, line.indexOf(":")),
    line.slice(line.indexOf(":") + 1),
  ]);
  return new Response(response instanceof Blob && response.size > 0 ? response : null, { status, headers });
}
