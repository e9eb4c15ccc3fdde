/** Slack's own markup as a tree. Nothing in it is HTML; whatever is not markup stays text. */
export type Inline =
  | { readonly kind: 'text'; readonly text: string }
  | { readonly kind: 'code'; readonly text: string }
  | { readonly kind: 'emoji'; readonly name: string }
  | { readonly kind: 'bold' | 'italic' | 'strike'; readonly inside: readonly Inline[] }
  | { readonly kind: 'link'; readonly href: string; readonly text: string }
  | { readonly kind: 'user' | 'channel' | 'group'; readonly id: string; readonly label: string }
  | { readonly kind: 'broadcast'; readonly range: string }
  | { readonly kind: 'date'; readonly at: number; readonly format: string; readonly text: string };

export type Part =
  | { readonly kind: 'pre'; readonly text: string }
  | { readonly kind: 'quote' | 'lines'; readonly inside: readonly Inline[] };

const FENCE = /```\n?([\s\S]*?)\n?```/g;
const QUOTED = /^(?:>|&gt;) ?/;

// Slack opens a style only at the edge of a word and closes it only at the next edge.
const STYLE = /(?<![\p{L}\p{N}*_~])([*_~])(?!\s)([^\n]*?[^\s\n])\1(?![\p{L}\p{N}*_~])/u;
const TOKEN = new RegExp(
  `(?<code>\`[^\`\\n]+\`)|(?<entity><[^<>\\n]+>)|(?<emoji>:[a-z][a-z0-9_+-]*:|:[+-]1:)|(?<style>${STYLE.source.replace('\\1', '\\5')})`,
  'u',
);

export function unescaped(text: string): string {
  return text.replaceAll('&lt;', '<').replaceAll('&gt;', '>').replaceAll('&amp;', '&');
}

export function parseMrkdwn(source: string): readonly Part[] {
  const parts: Part[] = [];
  let from = 0;
  for (const match of source.matchAll(FENCE)) {
    parts.push(...parseLines(source.slice(from, match.index)));
    parts.push({ kind: 'pre', text: unescaped(match[1] ?? '') });
    from = match.index + match[0].length;
  }
  return [...parts, ...parseLines(source.slice(from))];
}

function parseLines(source: string): readonly Part[] {
  if (source.trim() === '') return [];
  const runs: { quote: boolean; lines: string[] }[] = [];
  for (const line of source.replace(/^\n|\n$/g, '').split('\n')) {
    const quote = QUOTED.test(line);
    const last = runs.at(-1);
    if (last?.quote === quote) last.lines.push(line.replace(QUOTED, ''));
    else runs.push({ quote, lines: [line.replace(QUOTED, '')] });
  }
  return runs.map(({ quote, lines }) => ({
    kind: quote ? 'quote' : 'lines',
    inside: parseInline(lines.join('\n')),
  }));
}

export function parseInline(source: string): readonly Inline[] {
  const match = TOKEN.exec(source);
  if (match === null) return source === '' ? [] : [{ kind: 'text', text: unescaped(source) }];
  const before = source.slice(0, match.index);
  const after = source.slice(match.index + match[0].length);
  return [...parseInline(before), inlineOf(match), ...parseInline(after)];
}

const STYLES = { '*': 'bold', _: 'italic', '~': 'strike' } as const;

function inlineOf(match: RegExpExecArray): Inline {
  const { code, entity, emoji } = match.groups ?? {};
  if (code !== undefined) return { kind: 'code', text: unescaped(code.slice(1, -1)) };
  if (entity !== undefined) return entityOf(entity.slice(1, -1));
  if (emoji !== undefined) return { kind: 'emoji', name: emoji.slice(1, -1) };
  const mark = match[5];
  const kind = mark === '*' || mark === '_' || mark === '~' ? STYLES[mark] : 'bold';
  return { kind, inside: parseInline(match[6] ?? '') };
}

function entityOf(inner: string): Inline {
  const [target = '', ...rest] = inner.split('|');
  const label = unescaped(rest.join('|'));
  if (target.startsWith('@')) return { kind: 'user', id: target.slice(1), label };
  if (target.startsWith('#')) return { kind: 'channel', id: target.slice(1), label };
  if (target.startsWith('!subteam^')) return { kind: 'group', id: target.slice(9), label };
  if (target.startsWith('!date^')) return dateOf(target, label);
  if (target.startsWith('!')) return { kind: 'broadcast', range: target.slice(1) };
  const href = unescaped(target);
  if (!isSafeLink(href)) return { kind: 'text', text: unescaped(`<${inner}>`) };
  return { kind: 'link', href, text: label || href.replace(/^mailto:/, '') };
}

function dateOf(target: string, text: string): Inline {
  const [, at, format = ''] = target.split('^');
  return { kind: 'date', at: Number(at), format, text };
}

/** Only these schemes become links; `javascript:` and its like stay text. */
export function isSafeLink(href: string): boolean {
  return /^(https?:\/\/|mailto:|slack:\/\/)/i.test(href);
}
