/** A word of the line that a user typed after the slash command. */
export interface Word {
  readonly text: string;
  readonly quoted: boolean;
}

const SMART: readonly (readonly [RegExp, string])[] = [
  [/[\u201c\u201d\u201e\u00ab\u00bb]/g, '"'],
  [/[\u2018\u2019\u201a]/g, "'"],
  [/[\u2010-\u2015\u2212]/g, '-'],
  [/[\u00a0\u2007\u202f]/g, ' '],
  // Invisible characters must not make two names different.
  [/\p{Cf}/gu, ''],
];

/** Undoes the curly quotes and long dashes of phones, and Slack's escapes of `<`, `>` and `&`. */
export function plainText(typed: string): string {
  const decoded = typed.replace(/&lt;/g, '<').replace(/&gt;/g, '>').replace(/&amp;/g, '&');
  return SMART.reduce((text, [pattern, plain]) => text.replace(pattern, plain), decoded);
}

/** `min=16 "night saving"` → two words; a quote without an end runs to the end of the line. */
export function splitWords(typed: string): readonly Word[] {
  const words: Word[] = [];
  for (const match of plainText(typed).matchAll(/"([^"]*)"?|(\S+="[^"]*"?)|(\S+)/g)) {
    const [, quoted, pair, bare] = match;
    if (quoted !== undefined) words.push({ text: quoted.trim(), quoted: true });
    else words.push({ text: (pair ?? bare ?? '').replace(/="([^"]*)"?$/, '=$1'), quoted: false });
  }
  return words.filter(({ text }) => text !== '');
}
