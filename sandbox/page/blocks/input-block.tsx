import { useId } from 'react';
import type { Json } from '../../protocol.ts';
import { Element } from '../elements/element.tsx';
import { isJson, record, textOf } from '../json.ts';
import { withEmoji } from '../text/emoji.ts';
import { TextObject } from '../text/text-object.tsx';
import { useSurfaceContext } from './surface.ts';

export function InputBlock({ block, blockId }: { block: Json; blockId: string }) {
  const { errors } = useSurfaceContext();
  const id = useId();
  const error = errors[blockId];
  const labels = {
    id,
    labelledBy: `${id}-label`,
    describedBy: `${id}-hint ${id}-error`,
    invalid: error !== undefined,
    optional: block.optional === true,
  };
  return (
    <div className={error === undefined ? 'input-block' : 'input-block invalid'}>
      <label id={labels.labelledBy} htmlFor={id}>
        {withEmoji(textOf(block.label))}
        {block.optional === true && <span className="optional"> (optional)</span>}
      </label>
      <Element
        blockId={blockId}
        element={record(block.element)}
        dispatches={block.dispatch_action === true}
        labels={labels}
      />
      <p id={`${id}-error`} className="input-error" role="alert">
        {error}
      </p>
      {isJson(block.hint) && (
        <p id={`${id}-hint`} className="input-hint">
          <TextObject value={block.hint} />
        </p>
      )}
    </div>
  );
}
