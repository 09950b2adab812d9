/** The child's side of `runWorker`: receives its one job and sends the answer. */
export function answerJob<Job>(answer: (job: Job) => unknown): void {
  process.once("message", async (job: Job) => {
    process.send?.(await answer(job));
  });
  // The parent has exited; nobody waits for the answer.
  process.once("disconnect", () => process.exit());
}
