import { type FormEvent, useEffect, useMemo, useRef, useState } from 'react';
import type { Place, View } from '../../protocol.ts';
import { Blocks } from '../blocks/blocks.tsx';
import { useSurface } from '../blocks/surface.ts';
import { Avatar } from '../frame/avatar.tsx';
import { IconButton } from '../frame/icon.tsx';
import { useSession } from '../session.ts';
import { Dialog } from './dialog.tsx';

export function ModalView({ view }: { view: View }) {
  const { client, deliver } = useSession();
  const place = useMemo<Place>(() => ({ in: 'view', viewId: view.id }), [view.id]);
  const { surface, values } = useSurface(place, view.blocks, view.errors);
  const [isSending, setSending] = useState(false);
  const [failure, setFailure] = useState<string | null>(null);
  const form = useRef<HTMLFormElement>(null);
  const as = client.me.id;
  const hasErrors = Object.keys(view.errors).length > 0;
  const titleId = `title-${view.id}`;
  const close = () => void deliver('close', { as, viewId: view.id });

  async function onSubmit(event: FormEvent) {
    event.preventDefault();
    if (isSending) return;
    setSending(true);
    setFailure(null);
    const { error } = await deliver('submit', { as, viewId: view.id, values: values() });
    setSending(false);
    setFailure(error);
  }

  useEffect(() => {
    form.current?.focus();
  }, []);

  // The fields may follow in an update, which moves no focus that the user has set.
  useEffect(() => {
    if (view.blocks.length === 0 || document.activeElement !== form.current) return;
    form.current?.querySelector<HTMLElement>('[data-focus-on-load]')?.focus();
  }, [view.blocks]);

  useEffect(() => {
    if (hasErrors) form.current?.querySelector<HTMLElement>('[aria-invalid="true"]')?.focus();
  }, [hasErrors]);

  return (
    <Dialog className="dialog modal" labelledBy={titleId} onEscape={close}>
      <form ref={form} tabIndex={-1} onSubmit={onSubmit} noValidate>
        <header className="dialog-head">
          <Avatar id="app" name={client.botName} bot small />
          <h2 id={titleId}>{view.title}</h2>
          <IconButton icon="close" label="Close modal" onClick={close} />
        </header>
        {/* biome-ignore lint/a11y/noNoninteractiveTabindex: the keyboard must be able to scroll it */}
        <div className="dialog-body" tabIndex={0}>
          <Blocks surface={surface} blocks={view.blocks} />
        </div>
        {failure !== null && !hasErrors && (
          <p className="dialog-failure" role="alert">
            {failure}
          </p>
        )}
        <footer className="dialog-foot">
          <button type="button" className="button" onClick={close}>
            {view.close ?? 'Close'}
          </button>
          {view.submit !== null && (
            <button type="submit" className="button primary" aria-busy={isSending}>
              {view.submit}
              {isSending && <span className="spinner" aria-hidden="true" />}
            </button>
          )}
        </footer>
      </form>
    </Dialog>
  );
}
