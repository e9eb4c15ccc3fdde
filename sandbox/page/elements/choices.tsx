import { useId } from 'react';
import type { Json } from '../../protocol.ts';
import { isJson, list, word } from '../json.ts';
import { TextObject } from '../text/text-object.tsx';
import { type ElementProps, optionsOf, useField } from './field.ts';

/** Checkboxes and radio buttons. */
export function Choices(props: ElementProps) {
  const { element } = props;
  const { state, change, pending, aftermath, aria } = useField(props);
  const many = element.type === 'checkboxes';
  const chosen = many ? list(state.selected_options) : [state.selected_option].filter(isJson);
  const name = useId();

  function choose(option: Json) {
    const rest = chosen.filter(({ value }) => value !== option.value);
    const selected_options = rest.length === chosen.length ? [...chosen, option] : rest;
    if (many) change({ type: 'checkboxes', selected_options });
    else change({ type: 'radio_buttons', selected_option: option });
  }

  return (
    <div role={many ? 'group' : 'radiogroup'} className="choices" aria-busy={pending} {...aria}>
      {optionsOf(element).map((option) => (
        <label key={word(option.value)} className="choice">
          <input
            type={many ? 'checkbox' : 'radio'}
            name={name}
            checked={chosen.some(({ value }) => value === option.value)}
            onChange={() => choose(option)}
          />
          <span>
            <TextObject value={option.text} />
            {isJson(option.description) && (
              <small>
                <TextObject value={option.description} />
              </small>
            )}
          </span>
        </label>
      ))}
      {aftermath}
    </div>
  );
}
