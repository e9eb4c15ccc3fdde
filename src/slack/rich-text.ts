import { actorName, type ChannelId, isPerson, type UserId } from '../domain/change.ts';

/**
 * A part of a line. Strings are literal and never read as markup; only the
 * objects produce mentions, dates and styles.
 */
export type RichInline =
  | string
  | { readonly bold: string }
  | { readonly code: string }
  /** What an agent says. In mrkdwn a bare domain would become a link, so that only the blocks have it. */
  | { readonly quoted: string; readonly by: string }
  | { readonly user: UserId }
  | { readonly group: string }
  | { readonly channel: ChannelId }
  | { readonly link: string; readonly text: string }
  | { readonly at: Date };
export type Line = readonly RichInline[];

type RichElement = Readonly<Record<string, unknown>> & { readonly type: string };

const DATE_FORMAT = '{date_short_pretty} at {time}';

/** Letters and punctuation of Latin texts: no control or direction character is among them. */
const PLAIN = /^[\n -~\u00a1-\u00ac\u00ae-\u02ff\u2010-\u2027\u2190-\u21ff]*$/;

/** Removes control and direction characters, which can make a name look like another one. */
export function visible(text: string): string {
  // A fast path, because most texts are plain.
  if (PLAIN.test(text)) return text;
  const spaced = text.replace(/\t/g, ' ');
  return spaced.replace(/[\p{Cc}\p{Cf}]/gu, (mark) => (mark === '\n' ? '\n' : ''));
}

/** For labelled values and titles, where a line break could imitate a line of Signalbox. */
export function oneLine(text: string): string {
  return BREAK.test(text) ? text.replace(/\s*[\n\u2028\u2029]\s*/g, ' ') : text;
}

const BREAK = /[\n\u2028\u2029]/;

/** A text with this channel id as a link, which Slack shows by the name of the channel. */
export function withChannelLink(text: string, id: string): Line {
  return text.split(id).flatMap((part, index) => {
    return index === 0 ? [part] : [{ channel: id as ChannelId }, part];
  });
}

/** Cuts a text at a whole character. */
export function bounded(text: string, most: number): string {
  if (text.length <= most) return text;
  const letters = [...text];
  return letters.length <= most ? text : `${letters.slice(0, most - 1).join('')}…`;
}

/** Cuts mrkdwn, but never within an escape, a mention or a date. */
export function boundedMrkdwn(text: string, most: number): string {
  const cut = bounded(text, most);
  return cut === text ? text : `${cut.slice(0, -1).replace(/(?:<[^<>]*|&[a-z]*)$/, '')}…`;
}

/** Escapes the three control characters of mrkdwn. Escape first, then cut. */
export function escaped(text: string): string {
  const shown = visible(text);
  if (!CONTROL.test(shown)) return shown;
  return shown.replace(/&/g, '&amp;').replace(/</g, '&lt;').replace(/>/g, '&gt;');
}

const CONTROL = /[&<>]/;

export function elementOf(inline: RichInline): RichElement {
  if (typeof inline === 'string') return textElement(inline);
  if ('bold' in inline) return textElement(inline.bold, { bold: true });
  if ('code' in inline) return textElement(inline.code, { code: true });
  if ('quoted' in inline) return textElement(`${inline.by} (agent): “${inline.quoted}”`);
  if ('user' in inline) {
    const { user } = inline;
    return isPerson(user) ? { type: 'user', user_id: user } : textElement(actorName(user));
  }
  if ('group' in inline) return { type: 'usergroup', usergroup_id: inline.group };
  if ('channel' in inline) return { type: 'channel', channel_id: inline.channel };
  if ('link' in inline) return { ...textElement(inline.text), type: 'link', url: inline.link };
  return dateElement(inline.at, { format: DATE_FORMAT, fallback: inline.at.toISOString() });
}

/** A time in the zone of the reader; `fallback` for a client that cannot draw it. */
export function dateElement(
  at: Date,
  text: { readonly format: string; readonly fallback: string },
): RichElement {
  return { type: 'date', timestamp: seconds(at), ...text };
}

function textElement(text: string, style?: Readonly<Record<string, boolean>>): RichElement {
  const shown = bounded(visible(text), 2_000) || '–';
  return { type: 'text', text: shown, ...(style ? { style } : {}) };
}

function seconds(at: Date): number {
  return Math.floor(at.getTime() / 1_000);
}

/** The line as mrkdwn for the `text` of a message, which notifications and screen readers use. */
export function mrkdwnOf(line: Line, between = ''): string {
  return line.map(mrkdwnPart).join(between);
}

function mrkdwnPart(inline: RichInline): string {
  if (typeof inline === 'string') return escaped(inline);
  if ('bold' in inline) return escaped(inline.bold);
  if ('code' in inline) return escaped(inline.code);
  if ('quoted' in inline) return escaped(`${inline.by} (agent) gives a reason.`);
  if ('user' in inline) {
    return isPerson(inline.user) ? `<@${inline.user}>` : escaped(actorName(inline.user));
  }
  // The block mentions the group already; a mention in the text would notify its members twice.
  if ('group' in inline) return 'the approvers';
  if ('channel' in inline) return `<#${inline.channel}>`;
  if ('link' in inline) return `<${escaped(inline.link)}|${escaped(inline.text)}>`;
  return `<!date^${seconds(inline.at)}^${DATE_FORMAT}|${inline.at.toISOString()}>`;
}

/** A text as Slack stores it, with the words of its links only: an attempt may know no link. */
export function withoutLinks(text: string): string {
  return text.replace(/<https:[^<>|]*\|([^<>|]*)>/g, '$1');
}

/** Between names: `A, B or C`. */
export function either(parts: readonly RichInline[]): Line {
  return parts.flatMap((part, index) => {
    if (index === 0) return [part];
    return [index === parts.length - 1 ? ' or ' : ', ', part];
  });
}
