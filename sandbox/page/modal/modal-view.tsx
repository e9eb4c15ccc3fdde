import { type FormEvent, useEffect, useMemo, useRef, useState } from 'react';
import type { Place, View } from '../../protocol.ts';
import { Blocks } from '../blocks/blocks.tsx';
import { useSurface } from '../blocks/surface.ts';
import { Avatar } from '../frame/avatar.tsx';
import { Icon } from '../frame/icon.tsx';
import { useSession } from '../session.ts';

export const titleId = ({ id }: View): string => `title-${id}`;

interface Props {
  readonly view: View;
  readonly hidden: boolean;
  readonly onClose: () => void;
}

export function ModalView({ view, hidden, onClose }: Props) {
  const { screen, deliver } = useSession();
  const place = useMemo<Place>(() => ({ in: 'view', viewId: view.id }), [view.id]);
  const { surface, submit } = useSurface(place, view.blocks, view.errors);
  const [sending, setSending] = useState(false);
  const [failure, setFailure] = useState<string | null>(null);
  const form = useRef<HTMLFormElement>(null);

  async function onSubmit(event: FormEvent) {
    event.preventDefault();
    const values = submit();
    if (values === null || sending) return;
    setSending(true);
    setFailure(null);
    const { error } = await deliver('submit', { as: screen.me.id, viewId: view.id, values });
    setSending(false);
    setFailure(error);
  }

  // A view that comes to the top takes the focus, to its field if the bot named one.
  useEffect(() => {
    if (hidden) return;
    const named = form.current?.querySelector<HTMLElement>('[data-focus-on-load]');
    (named ?? form.current)?.focus();
  }, [hidden]);

  const refused = Object.keys(surface.errors).length > 0;
  useEffect(() => {
    if (refused) form.current?.querySelector<HTMLElement>('[aria-invalid="true"]')?.focus();
  }, [refused]);

  return (
    <form ref={form} tabIndex={-1} hidden={hidden} onSubmit={onSubmit} noValidate>
      <header className="dialog-head">
        <Avatar id="app" name={screen.botName} bot small />
        <h2 id={titleId(view)}>{view.title}</h2>
        <button type="button" className="icon-button" aria-label="Close modal" onClick={onClose}>
          <Icon name="close" />
        </button>
      </header>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: a body that scrolls needs the keys */}
      <div className="dialog-body" tabIndex={0}>
        <Blocks surface={surface} blocks={view.blocks} />
      </div>
      {failure !== null && (
        <p className="dialog-failure" role="alert">
          {failure}
        </p>
      )}
      <footer className="dialog-foot">
        <button type="button" className="button" onClick={onClose}>
          {view.close ?? 'Close'}
        </button>
        {view.submit !== null && (
          <button type="submit" className="button primary" aria-busy={sending}>
            {view.submit}
            {sending && <span className="spinner" aria-hidden="true" />}
          </button>
        )}
      </footer>
    </form>
  );
}
