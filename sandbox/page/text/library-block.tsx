import { type Block, Message, type MessageProps } from 'slack-blocks-to-jsx';
import 'slack-blocks-to-jsx/dist/style.css';
import type { Json } from '../../json.ts';
import { useSession } from '../session.ts';
import { Link, MentionName, SlackDate } from './markup.tsx';
import { isSafeLink } from './mrkdwn.ts';

const hooks: NonNullable<MessageProps['hooks']> = {
  user: ({ id, name }) => <MentionName kind="user" id={id} text={name} />,
  channel: ({ id, name }) => <MentionName kind="channel" id={id} text={name} />,
  usergroup: ({ id, name }) => <MentionName kind="group" id={id} text={name} />,
  date: ({ timestamp, format, fallback }) => (
    <SlackDate at={Number(timestamp)} format={format} text={fallback} />
  ),
  link: ({ href, children }) => (isSafeLink(href) ? <Link href={href}>{children}</Link> : children),
};

/** A block without actions, drawn by the slack-blocks-to-jsx library. */
export function LibraryBlock({ block }: { block: Json }) {
  const { client } = useSession();
  // The server has validated the block.
  const blocks = [block as unknown as Block];
  return <Message withoutWrapper name={client.botName} logo="" hooks={hooks} blocks={blocks} />;
}
