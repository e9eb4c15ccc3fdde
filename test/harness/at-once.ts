/** Runs cases that wait for most of their time at once, to their ends. The error of a case that fails has its name. */
export async function atOnce(cases: Readonly<Record<string, () => Promise<void>>>): Promise<void> {
  const run = async ([name, work]: readonly [string, () => Promise<void>]) => {
    await work().catch((cause) => {
      throw new Error(name, { cause });
    });
  };
  const ended = await Promise.allSettled(Object.entries(cases).map(run));
  const failed = ended.flatMap((each) => (each.status === 'rejected' ? [each.reason] : []));
  if (failed.length > 0) throw new AggregateError(failed, failed.map(String).join(', '));
}
