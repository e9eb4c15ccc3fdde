/** Runs cases that wait for most of their time at once, to their ends. The error of the one that fails has its name. */
export async function atOnce(cases: Readonly<Record<string, () => Promise<void>>>): Promise<void> {
  const run = ([name, work]: readonly [string, () => Promise<void>]) =>
    work().catch((cause) => {
      throw new Error(name, { cause });
    });
  const ended = await Promise.allSettled(Object.entries(cases).map(run));
  for (const each of ended) if (each.status === 'rejected') throw each.reason;
}
