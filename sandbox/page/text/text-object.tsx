import { record, textOf } from '../json.ts';
import { withEmoji } from './emoji.ts';
import { Mrkdwn } from './markup.tsx';

/** A text object as Slack draws it: markup only where the bot said `mrkdwn`. */
export function TextObject({ value }: { value: unknown }) {
  const text = textOf(value);
  if (record(value).type === 'mrkdwn') return <Mrkdwn text={text} />;
  return <span className="lines">{withEmoji(text)}</span>;
}
