import { Menu } from '../elements/menu.tsx';
import { Icon } from '../frame/icon.tsx';
import { useSession } from '../session.ts';
import type { Where } from './sending.ts';

export function ShortcutsMenu({ where }: { where: Where }) {
  const { screen, deliver, notices } = useSession();
  const items = screen.shortcuts
    .filter(({ kind }) => kind === 'global')
    .map(({ callbackId, name, description }) => ({
      id: callbackId,
      label: name,
      note: description,
      act: async () => {
        const { error } = await deliver('shortcut', { as: screen.me.id, callbackId });
        const { channel, threadTs } = where;
        if (error !== null) notices.say({ channel: channel.id, threadTs }, error);
      },
    }));
  return (
    <Menu label="Shortcuts" className="icon-button" items={items} align="start">
      <Icon name="bolt" />
    </Menu>
  );
}
