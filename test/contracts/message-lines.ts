import type { Json } from '../../sandbox/json.ts';

/**
 * The visible text of a message, line by line. Two spaces follow a label; a table row is one line;
 * buttons, selects and times are in brackets.
 */
export function linesOf(blocks: readonly Json[]): readonly string[] {
  return blocks.flatMap((block) => READERS[String(block.type)]?.(block) ?? []);
}

type Reader = (block: Json) => readonly string[];

const READERS: Readonly<Record<string, Reader>> = {
  header: ({ text }) => [plain(text)],
  section: ({ text, fields, accessory }) => [
    [plain(text), ...list(fields).map(plain), accessory ? control(json(accessory)) : '']
      .filter(Boolean)
      .join(' · '),
  ],
  rich_text: ({ elements }) => list(elements).flatMap(richLines),
  context: ({ elements }) => [list(elements).map(plain).join(' · ')],
  actions: ({ elements }) => [list(elements).map(control).join(' ')],
  table: tableLines,
  data_table: (block) => [String(block.caption), ...tableLines(block)],
  input: ({ label, element, hint }) => [
    [plain(label), control(json(element)), hint ? `(${plain(hint)})` : ''].join('  ').trim(),
  ],
};

function richLines({ elements }: Json): readonly string[] {
  const text = list(elements).map(richText).join('');
  return text.split('\n').filter((line) => line !== '');
}

function richText(element: Json): string {
  if (element.type === 'user') return `@${String(element.user_id)}`;
  if (element.type === 'date') return `[${String(element.fallback)}]`;
  return element.type === 'usergroup' ? '@group' : String(element.text ?? '');
}

function control(element: Json): string {
  if (element.type === 'button') return `[${plain(element.text)}]`;
  const chosen = element.initial_option ?? element.initial_value;
  const shown = typeof chosen === 'string' ? chosen : chosen ? plain(json(chosen).text) : '';
  return `[${element.placeholder ? plain(element.placeholder) : shown}]`;
}

function tableLines({ rows }: Json): readonly string[] {
  return table(rows).map((row) => row.map(cell).join(' · '));
}

/** A text, a number or a time. */
function cell(value: Json): string {
  return value.type === 'rich_text'
    ? list(value.elements).flatMap(richLines).join(' ')
    : plain(value);
}

function plain(value: unknown): string {
  const { text } = json(value);
  return typeof text === 'string' ? text : '';
}

function table(value: unknown): readonly (readonly Json[])[] {
  return Array.isArray(value) ? value.map(list) : [];
}

function list(value: unknown): readonly Json[] {
  return Array.isArray(value) ? value.map(json) : [];
}

function json(value: unknown): Json {
  // Blocks come from JSON, so each object is a JSON object.
  return typeof value === 'object' && value !== null ? (value as Json) : {};
}
