import { type Block, Message, type MessageProps } from 'slack-blocks-to-jsx';
import 'slack-blocks-to-jsx/dist/style.css';
import type { Json } from '../../protocol.ts';
import { word } from '../json.ts';
import { useSession } from '../session.ts';
import { ChannelMention, GroupMention, OutsideLink, SlackDate, UserMention } from './markup.tsx';
import { isSafeLink } from './mrkdwn.ts';

const hooks: NonNullable<MessageProps['hooks']> = {
  user: ({ id, name }) => <UserMention id={id} label={name} />,
  channel: ({ id, name }) => <ChannelMention id={id} label={name} />,
  usergroup: ({ id, name }) => <GroupMention id={id} label={name} />,
  date: ({ timestamp, format, fallback }) => (
    <SlackDate at={Number(timestamp)} format={format} text={fallback} />
  ),
  link: ({ href, children }) =>
    isSafeLink(href) ? <OutsideLink href={href}>{children}</OutsideLink> : children,
};

/** Slack turns images of a markdown block into links; here too nothing is fetched from outside. */
function drawable(block: Json): Json {
  if (block.type !== 'markdown') return block;
  return { ...block, text: word(block.text).replaceAll('![', '[') };
}

/** One block that only shows, drawn by the library. */
export function LibraryBlock({ block }: { block: Json }) {
  const { screen } = useSession();
  // The bot's JSON is not checked here; the library draws what it knows of it.
  const blocks = [drawable(block) as unknown as Block];
  return <Message withoutWrapper name={screen.botName} logo="" hooks={hooks} blocks={blocks} />;
}
