import { useId } from 'react';
import { type Json, list, record, textOf } from '../../json.ts';
import { Element } from '../elements/element.tsx';
import { TextObject } from '../text/text-object.tsx';
import { useSurfaceContext } from './surface.ts';

export function InputBlock({ block, blockId }: { block: Json; blockId: string }) {
  const { errors } = useSurfaceContext();
  const id = useId();
  const error = errors[blockId];
  const isOptional = block.optional === true;
  const labels = {
    id,
    labelledBy: `${id}-label`,
    describedBy: `${id}-hint ${id}-error`,
    isInvalid: error !== undefined,
    isOptional,
  };
  return (
    <div className={error === undefined ? 'input-block' : 'input-block invalid'}>
      <label id={labels.labelledBy} htmlFor={id}>
        {textOf(block.label)}
        {isOptional && <span className="optional"> (optional)</span>}
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
      {list([block.hint]).map((hint) => (
        <p key="hint" id={`${id}-hint`} className="input-hint">
          <TextObject value={hint} />
        </p>
      ))}
    </div>
  );
}
