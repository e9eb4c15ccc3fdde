import { expect, test } from 'vitest';
import { grouped } from '../../src/base/text.ts';
import {
  ACCEPTED_VALUES,
  type Accepted,
  type AcceptedField,
} from '../../src/servers/accepted-values.ts';

const COMMAND = 'npx vitest run --project bot test/documents/accepted-values.test.ts -u';

const INTRODUCTION = `# Values that the contract and live servers accept

The contract of the APIs and live servers differ in the values of these fields. Signalbox offers the values of the
contract. A value that only live servers accept is allowed, with a warning. A value that known live servers reject has a
warning in the preview, so that approvers see it.

The source has one table of these values, from which this command generates the page:
\`${COMMAND}\`.`;

test('docs/accepted-values.md lists the values of the table', async () => {
  const parts = Object.entries(ACCEPTED_VALUES).map(([operation, rows]) => partOf(operation, rows));
  const page = `${[INTRODUCTION, ...parts].join('\n\n')}\n`;
  await expect(page, `run ${COMMAND}`).toMatchFileSnapshot('../../docs/accepted-values.md');
});

function partOf(operation: string, rows: readonly AcceptedField[]): string {
  const table = [
    '| Field | Values | Contract | Live |',
    '|---|---|---|---|',
    ...rows.flatMap(rowsOf),
  ];
  return [`## ${operation}`, table.join('\n')].join('\n\n');
}

/** One row for the values that both treat alike, and one row for the rules that are no list. */
function rowsOf({ field, contract, live }: AcceptedField): readonly string[] {
  const values = [...new Set([...(contract.values ?? []), ...(live.values ?? [])])];
  const rest = values.length > 0 ? 'any other value' : 'any value';
  const rule = row(field, rest, [ruleOf(contract), ruleOf(live)]);
  const alike = Map.groupBy(values, (value) =>
    [listedIn(contract, value), listedIn(live, value)].join(),
  );
  const rows = [...alike].map(([columns, all]) =>
    row(field, all.map((value) => `\`${value}\``).join(' '), columns.split(',')),
  );
  return [...rows, rule];
}

function listedIn({ values }: Accepted, value: string): string {
  return values === undefined || values.includes(value) ? 'accepted' : 'rejected';
}

function ruleOf({ values, longest, words }: Accepted): string {
  if (values !== undefined) return 'rejected';
  const parts = [words, longest && `at most ${grouped(longest)} characters`].filter(Boolean);
  return parts.length > 0 ? parts.join(', ') : 'accepted';
}

function row(field: string, value: string, columns: readonly string[]): string {
  return `| ${[`\`${field}\``, value, ...columns].join(' | ')} |`;
}
