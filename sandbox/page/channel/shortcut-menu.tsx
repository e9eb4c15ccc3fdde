import { Menu } from '../elements/menu.tsx';
import { Icon } from '../frame/icon.tsx';
import { useSession } from '../session.ts';

interface Props {
  readonly kind: 'global' | 'message';
  /** The place in which Slackbot shows an error. */
  readonly place: { readonly channel: string; readonly threadTs: string | null };
  /** The message of a message shortcut. */
  readonly ts?: string;
}

/** The app's shortcuts: the global ones, or those for one message. */
export function ShortcutMenu({ kind, place, ts }: Props) {
  const { client, deliver, notices } = useSession();
  const message = ts === undefined ? {} : { channel: place.channel, ts };
  const items = client.shortcuts
    .filter((shortcut) => shortcut.kind === kind)
    .map(({ callbackId, name, description }) => ({
      id: callbackId,
      label: name,
      note: description,
      act: async () => {
        const { error } = await deliver('shortcut', { as: client.me.id, callbackId, ...message });
        if (error !== null) notices.add(place, error);
      },
    }));
  if (kind === 'message' && items.length === 0) return null;
  const isGlobal = kind === 'global';
  return (
    <Menu
      label={isGlobal ? 'Shortcuts' : 'More actions'}
      className="icon-button"
      items={items}
      align={isGlobal ? 'start' : 'end'}
    >
      <Icon name={isGlobal ? 'bolt' : 'dots'} />
    </Menu>
  );
}
