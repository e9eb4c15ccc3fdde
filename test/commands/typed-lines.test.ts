import { readFileSync } from 'node:fs';
import { afterAll, expect, test } from 'vitest';
import { parse } from 'yaml';
import { faultsOf, figures, type TypedCase } from '../harness/typed-lines.ts';

const cases = ['typed-lines.yaml', 'more-lines.yaml'].flatMap((name) => {
  const file = readFileSync(new URL(name, import.meta.url), 'utf8');
  return (parse(file) as { readonly cases: readonly TypedCase[] }).cases;
});

/**
 * The lines that contradict a rule. This list may only become shorter.
 *
 * O181 edits an alert without a channel: R17 comes before R4. docs/decisions.md
 */
const KNOWN: readonly string[] = ['O181'];

const wrong = new Set<string>();

/** The cases of a test share worlds. */
const groups = Array.from({ length: cases.length / 20 + 1 }, (_, n) =>
  cases.slice(n * 20, n * 20 + 20),
);

test.for(groups.map((group) => [group[0]?.id, group.at(-1)?.id, group] as const))(
  'lines %s to %s are right',
  async ([, , group]) => {
    const found: Record<string, readonly string[]> = {};
    for (const typed of group) {
      const faults = await faultsOf(typed);
      if (faults.length > 0) wrong.add(typed.id);
      if (faults.length > 0 !== KNOWN.includes(typed.id))
        found[`${typed.id} ${typed.line}`] =
          faults.length > 0 ? faults : ['is right now: shorten the list'];
    }
    expect(found).toEqual({});
  },
);

afterAll(() => {
  process.stdout.write(`${figures(cases, ({ id }) => !wrong.has(id))}\n`);
});
