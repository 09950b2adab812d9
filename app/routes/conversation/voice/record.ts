// In ms. Longer recordings may exceed the size that the server takes.
const longest = 20 * 60_000;
// In bits per second: enough for speech, and a slow line sends one minute in some seconds.
const quality = 24_000;

let recorder: MediaRecorder | undefined;
/** The recording that could not be sent. */
let unsent: Blob | undefined;

/** Ends the recording under way. */
export const stop = () => {
  if (recorder?.state === "recording") recorder.stop();
};

/**
 * Records until `stop`, or takes the recording that could not be sent before; has it transcribed, and puts the text at the cursor of the
 * composer. Returns why that failed, or an empty text if it did not.
 */
export async function record(form: HTMLFormElement, tell: (state: "recording" | "writing") => void): Promise<string> {
  if (unsent) {
    tell("writing");
    return write(form, unsent);
  }
  if (!isSecureContext) return "El micrófono solo se puede usar donde la dirección empieza por https://.";
  const stream = await navigator.mediaDevices?.getUserMedia({ audio: true }).catch(() => undefined);
  if (!stream) return "El navegador no deja usar el micrófono.";
  const recording = new MediaRecorder(stream, { audioBitsPerSecond: quality });
  recorder = recording;
  const parts: Blob[] = [];
  recording.ondataavailable = ({ data }) => parts.push(data);
  const ended = new Promise((resolve) => {
    recording.onstop = resolve;
  });
  recording.start();
  tell("recording");
  const timer = setTimeout(stop, longest);
  await ended;
  clearTimeout(timer);
  for (const track of stream.getTracks()) track.stop();
  tell("writing");
  return write(form, new Blob(parts, { type: recording.mimeType }));
}

async function write(form: HTMLFormElement, sound: Blob): Promise<string> {
  const body = new FormData();
  body.set("formToken", String(new FormData(form).get("formToken")));
  body.set("audio", sound, "dictado");
  const answer = await fetch("/conversation/dictado", { method: "POST", body }).catch(() => undefined);
  if (!answer?.headers.get("Content-Type")?.includes("json")) {
    // A recording that a proxy has refused would be refused again.
    if (answer && answer.status < 500 && answer.status !== 401 && answer.status !== 403) {
      unsent = undefined;
      return `El servidor no ha aceptado la grabación (${answer.status}).`;
    }
    unsent = sound;
    return "No se ha podido conectar con el servidor. Lo grabado sigue aquí: pulsa «Dictar» para enviarlo otra vez.";
  }
  unsent = undefined;
  const { text, refused }: { text?: string; refused?: string } = await answer.json();
  if (text === undefined) return refused ?? "";
  // A message that was sent meanwhile has brought another form.
  const here = form.isConnected ? form : document.querySelector<HTMLFormElement>("form#composer");
  const field = here?.elements.namedItem("content");
  if (!(field instanceof HTMLTextAreaElement)) return "";
  const { selectionStart, value } = field;
  const gap = selectionStart > 0 && !/\s$/.test(value.slice(0, selectionStart)) ? " " : "";
  field.setRangeText(gap + text, selectionStart, field.selectionEnd, "end");
  // The event saves the draft, as typing does.
  field.dispatchEvent(new Event("input", { bubbles: true }));
  field.focus();
  return "";
}
