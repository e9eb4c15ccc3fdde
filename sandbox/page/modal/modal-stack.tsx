import { useSession } from '../session.ts';
import { Dialog } from './dialog.tsx';
import { ModalView, titleId } from './modal-view.tsx';

/** Open modals. The ones below the top stay as they are, so that their inputs are kept. */
export function ModalStack() {
  const { screen, deliver } = useSession();
  const top = screen.views.at(-1);
  if (top === undefined) return null;
  const close = () => void deliver('close', { as: screen.me.id, viewId: top.id });
  return (
    <Dialog className="dialog modal" labelledBy={titleId(top)} onEscape={close}>
      {screen.views.map((view) => (
        <ModalView key={view.id} view={view} hidden={view !== top} onClose={close} />
      ))}
    </Dialog>
  );
}
