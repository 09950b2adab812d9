import { longThought } from "../support/model-server.ts";
import { begin, expect, lastReply, test } from "./fixtures.ts";

for (const model of ["gpt-4o", "claude-3-5-sonnet-20241022"]) {
  test(`${model} shows its reasoning during a reply and after reloading`, async ({ page, person }) => {
    expect(person.email).toBeTruthy();
    await begin(page, "Quiero que pienses", model);
    await page.waitForURL(/\/conversation\/chat\/.+/, { waitUntil: "commit" });
    const fold = lastReply(page).locator("details.reasoning");
    await expect(fold.locator("summary")).toHaveText("Razonando…");
    await expect(fold.getByText("Paso 1 de lo que pienso.")).toBeHidden();
    await page.reload({ waitUntil: "commit" });
    await fold.locator("summary").click({ noWaitAfter: true });
    await expect(fold).toContainText("Paso 1 de lo que pienso.");
    await expect(lastReply(page)).toContainText("Son cuarenta y dos.");
    await expect(lastReply(page).getByText(/^Razonó \d+ s$/)).toBeVisible();
    await expect(lastReply(page).getByRole("button", { name: "Regenerar" })).toBeVisible();

    await page.reload();
    await expect(fold.locator("summary")).toHaveText(/^Razonó \d+ s$/);
    await expect(lastReply(page).getByText("Son cuarenta y dos.")).toBeVisible();
    await expect(fold.getByText(longThought)).toBeHidden();
    await fold.locator("summary").click();
    await expect(fold.getByText(longThought)).toBeVisible();
  });
}

test("a reply is stopped in mid-thought and asked for again", async ({ page, person }) => {
  expect(person.email).toBeTruthy();
  await begin(page, "Quiero que pienses", "gpt-4o");
  await page.waitForURL(/\/conversation\/chat\/.+/, { waitUntil: "commit" });
  await expect(lastReply(page)).toContainText("Razonando…");
  await page.getByRole("button", { name: "Detener" }).click({ noWaitAfter: true });
  await expect(lastReply(page)).toContainText("Detenida.");
  await expect(lastReply(page).locator("summary", { hasText: "Razonó" })).toBeVisible();
  await lastReply(page).getByRole("button", { name: "Reintentar" }).click({ noWaitAfter: true });
  await expect(lastReply(page)).toContainText("Son cuarenta y dos.");
});
