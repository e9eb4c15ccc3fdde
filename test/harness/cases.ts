/** A case of a table: its name, the input, and the expected text. */
export type TextCase = readonly [name: string, input: string, expected: string];

/**
 * The cases of a text table. A case has two lines: `name: input`, and below it, indented further, the
 * expected text.
 */
export function casesIn(table: string): TextCase[] {
  const found = [...table.matchAll(/^ {2}(\S[^:\n]*): (.*)\n {4}(.*)$/gm)];
  const lines = table.split('\n').filter((line) => line.trim() !== '').length;
  if (found.length * 2 !== lines) throw new Error('A case of the table does not have two lines');
  return found.map(([, name = '', input = '', expected = '']) => [name, input, expected] as const);
}
