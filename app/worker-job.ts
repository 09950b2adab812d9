/** The other side of `runWorker`: takes the one job that this process was made for, and answers it. */
export function answerJob<Job>(answer: (job: Job) => unknown): void {
  process.once("message", async (job: Job) => {
    process.send?.(await answer(job));
  });
  // The server is gone: nobody waits for the answer.
  process.once("disconnect", () => process.exit());
}
