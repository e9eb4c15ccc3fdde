import type { ComponentType } from 'react';
import { stringOf } from '../../json.ts';
import { ButtonElement } from './button.tsx';
import type { ElementProps } from './field.ts';
import { OverflowElement } from './overflow.tsx';
import { Select } from './select.tsx';
import { TextInput } from './text-input.tsx';

const ELEMENTS: Readonly<Record<string, ComponentType<ElementProps>>> = {
  button: ButtonElement,
  overflow: OverflowElement,
  plain_text_input: TextInput,
  number_input: TextInput,
  static_select: Select,
  external_select: Select,
  conversations_select: Select,
};

/** An element of an actions or input block, or the accessory of a section. */
export function Element(props: ElementProps) {
  const type = stringOf(props.element.type);
  const Known = ELEMENTS[type];
  return Known ? <Known {...props} /> : <Undrawable what={`element type ${type}`} />;
}

export function Undrawable({ what }: { what: string }) {
  return <div className="undrawable">The sandbox does not support {what}.</div>;
}
