import { record, textOf } from '../../json.ts';
import { Mrkdwn } from './markup.tsx';

/**
 * Slack's text object. Only `mrkdwn` contains markup; `plain_text` is shown as it is, so it is the
 * safe type for names from outside. The bot turns off emoji names in plain text, so the page does
 * not replace them.
 */
export function TextObject({ value }: { value: unknown }) {
  const text = textOf(value);
  if (record(value).type === 'mrkdwn') return <Mrkdwn text={text} />;
  return <span className="lines">{text}</span>;
}
