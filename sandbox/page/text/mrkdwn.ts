/** Slack's mrkdwn as a tree. It contains no HTML; everything that is not markup is text. */
export type Inline =
  | { readonly kind: 'text' | 'code'; readonly text: string }
  | { readonly kind: 'bold' | 'italic' | 'strike'; readonly inside: readonly Inline[] }
  | { readonly kind: 'link'; readonly href: string; readonly text: string }
  | { readonly kind: 'user' | 'channel' | 'group'; readonly id: string; readonly text: string }
  | { readonly kind: 'broadcast'; readonly text: string }
  | { readonly kind: 'date'; readonly at: number; readonly format: string; readonly text: string };

export type Part =
  | { readonly kind: 'pre'; readonly text: string }
  | { readonly kind: 'quote' | 'lines'; readonly inside: readonly Inline[] };

const FENCE = /```\n?([\s\S]*?)\n?```/g;
const QUOTED = /^(?:>|&gt;) ?/;

// Slack starts a style only at a word boundary and ends it only at the next one.
const TOKEN =
  /(?<code>`[^`\n]+`)|(?<entity><[^<>\n]+>)|(?<![\p{L}\p{N}*_~])(?<mark>[*_~])(?!\s)(?<styled>[^\n]*?[^\s\n])\k<mark>(?![\p{L}\p{N}*_~])/u;

function unescapeMrkdwn(text: string): string {
  return text.replaceAll('&lt;', '<').replaceAll('&gt;', '>').replaceAll('&amp;', '&');
}

export function parseMrkdwn(source: string): readonly Part[] {
  const parts: Part[] = [];
  let from = 0;
  for (const match of source.matchAll(FENCE)) {
    parts.push(...parseLines(source.slice(from, match.index)));
    parts.push({ kind: 'pre', text: unescapeMrkdwn(match[1] ?? '') });
    from = match.index + match[0].length;
  }
  return [...parts, ...parseLines(source.slice(from))];
}

function parseLines(source: string): readonly Part[] {
  if (source.trim() === '') return [];
  const runs: { isQuote: boolean; lines: string[] }[] = [];
  for (const line of source.replace(/^\n|\n$/g, '').split('\n')) {
    const isQuote = QUOTED.test(line);
    const last = runs.at(-1);
    if (last?.isQuote === isQuote) last.lines.push(line.replace(QUOTED, ''));
    else runs.push({ isQuote, lines: [line.replace(QUOTED, '')] });
  }
  return runs.map(({ isQuote, lines }) => ({
    kind: isQuote ? 'quote' : 'lines',
    inside: parseInline(lines.join('\n')),
  }));
}

export function parseInline(source: string): readonly Inline[] {
  const match = TOKEN.exec(source);
  if (match === null) return source === '' ? [] : [{ kind: 'text', text: unescapeMrkdwn(source) }];
  const before = source.slice(0, match.index);
  const after = source.slice(match.index + match[0].length);
  return [...parseInline(before), inlineOf(match.groups ?? {}), ...parseInline(after)];
}

const STYLES: Readonly<Record<string, 'bold' | 'italic' | 'strike'>> = {
  '*': 'bold',
  _: 'italic',
  '~': 'strike',
};

function inlineOf({ code, entity, mark = '', styled = '' }: Record<string, string | undefined>) {
  if (code !== undefined) return { kind: 'code', text: unescapeMrkdwn(code.slice(1, -1)) } as const;
  if (entity !== undefined) return entityOf(entity.slice(1, -1));
  return { kind: STYLES[mark] ?? 'bold', inside: parseInline(styled) } as const;
}

function entityOf(inner: string): Inline {
  const [target = '', ...rest] = inner.split('|');
  const text = unescapeMrkdwn(rest.join('|'));
  if (target.startsWith('@')) return { kind: 'user', id: target.slice(1), text };
  if (target.startsWith('#')) return { kind: 'channel', id: target.slice(1), text };
  if (target.startsWith('!subteam^')) return { kind: 'group', id: target.slice(9), text };
  if (target.startsWith('!date^')) {
    const [, at, format = ''] = target.split('^');
    return { kind: 'date', at: Number(at), format, text };
  }
  if (target.startsWith('!')) return { kind: 'broadcast', text: target.slice(1) };
  const href = unescapeMrkdwn(target);
  if (!isSafeLink(href)) return { kind: 'text', text: unescapeMrkdwn(`<${inner}>`) };
  return { kind: 'link', href, text: text || href.replace(/^mailto:/, '') };
}

/** True for the schemes that become links; other schemes, for example `javascript:`, stay text. */
export function isSafeLink(href: string): boolean {
  return /^(https?:\/\/|mailto:|slack:\/\/)/i.test(href);
}
