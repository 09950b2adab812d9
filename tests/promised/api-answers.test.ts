import { expect, it } from "vitest";
import { ApiProblem, read, refusalIn, whenStatus } from "../../app/web/api-result.server.ts";

const answer = (status: number, body: string) => read(Promise.resolve(new Response(body, { status })));
const refused = JSON.stringify({ status: 409, title: "Conflict", detail: "Ya hay uno.", requestId: "1" });

it.each(["<html>Bad Gateway</html>", "", "null", '"no"'])(
  "a proxy answer %j is reported as an unavailable API",
  async (body) => {
    const error = await answer(502, body).catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(ApiProblem);
    expect(refusalIn(error)).toMatchObject({ status: 503, detail: expect.stringMatching(/no contesta ahora/) });
  },
);

it("an expected status gives a value, any other is thrown", async () => {
  await expect(answer(409, refused).catch(whenStatus(409, "none"))).resolves.toBe("none");
  await expect(answer(409, refused).catch(whenStatus(404, "none"))).rejects.toBeInstanceOf(ApiProblem);
});
