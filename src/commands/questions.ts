/** A question is never a change: the read that answers it, as a line. */

import { ownValue, type Words } from '../base/text.ts';
import { nounOf, type Vocabulary } from './define.ts';
import { quotedName } from './names.ts';
import { anyName, lowerOf, verbAt } from './verbs.ts';

const DONE: Readonly<Record<string, string>> = {
  stopped: 'service stop',
  started: 'service start',
  scaled: 'service scale',
  resized: 'service scale',
  created: 'service create',
  edited: 'alert edit',
  froze: 'change freeze',
};

const ASKS_WHO =
  /\bwho (can|may|approves?|is allowed|has to|must)\b|^(can|may|could|should|would|am)\b/;

/** The line that answers a question; null where no read does. */
export function lineOfQuestion(noun: string, typed: Words, vocabulary: Vocabulary) {
  const words = typed.map((word) => ({ ...word, text: word.text.replace(/[?!.,]+$/, '') }));
  const text = words.map(lowerOf).join(' ');
  const service = anyName('service', words, vocabulary);
  const alert = anyName('alert', words, vocabulary);
  const tag = anyName('tag', words, vocabulary);
  const name = service && quotedName(service.item.name);
  if (ASKS_WHO.test(text)) {
    const asked = changeAsked(noun, words, vocabulary);
    const on = name ?? (tag && `tag=${tag.item.name}`);
    if (asked) return ['change who', `"${asked.name}"`, on].filter(Boolean).join(' ');
    if (name) return `change who ${name}`;
  }
  const [, done = ''] = /\bwho (\w+)/.exec(text) ?? [];
  const command = ownValue(DONE, done);
  if (/\bwho\b/.test(text)) {
    const filters = [name && `target=${name}`, command && `command="${command}"`].filter(Boolean);
    return ['change log', ...filters].join(' ');
  }
  if (/\b(frozen|freezes?)\b/.test(text)) return 'change freezes';
  if (name && /\bbacked up\b|\bbackups\b/.test(text)) return `backup list ${name}`;
  if (name && /\bbackup\b/.test(text)) return `backup show ${name} latest`;
  if (alert) return `alert show ${quotedName(alert.item.name)}`;
  if (/\b(firing|alerting|red)\b/.test(text)) return 'alert list state=ALERT';
  if (/^how (to|(do|can) (i|we|you)) ./.test(text)) return `${noun || 'signalbox'} help ${text}`;
  if (
    /\b(costs?|spend|spent|spending|expensive|budget|unusual|how much (is|was|did))\b/.test(text)
  ) {
    return `cost ${words.map(({ text: word }) => word).join(' ')}`;
  }
  if (name && noun === 'backup') return `backup list ${name}`;
  if (name && (noun === 'pipe' || noun === 'endpoint')) return `${noun} list ${name}`;
  if (name) return `service show ${name}`;
  if (/\bschedules?\b/.test(text)) return 'service schedule list';
  if (noun === 'service' || /\b(services?|running|stopped|idle)\b/.test(text))
    return 'service list';
  if (noun === 'alert' || noun === 'change') return `${noun} list`;
  return null;
}

/** The change whose verb stands in the question; of two with this verb, that of the noun. */
function changeAsked(noun: string, words: Words, { commands }: Vocabulary) {
  const changes = commands.filter(({ kind }) => kind === 'change');
  const own = changes.filter((command) => nounOf(command) === noun);
  for (let at = 0; at < words.length; at += 1) {
    const found = verbAt(words.slice(at), [...own, ...changes]);
    if (found) return found.command;
  }
  return null;
}
