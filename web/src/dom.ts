type Attributes = Record<string, string | number | boolean | undefined>;

/**
 * Makes an element. Attributes that are undefined or false are left out, true ones are empty. Strings among the
 * children become text, never markup.
 */
export function h<K extends keyof HTMLElementTagNameMap>(
  tag: K,
  attributes: Attributes = {},
  ...children: (Node | string)[]
): HTMLElementTagNameMap[K] {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (value === undefined || value === false) continue;
    element.setAttribute(name, value === true ? '' : String(value));
  }
  element.append(...children);
  return element;
}

/** Makes a button with a word on it. `kind` is a class of buttons.css. */
export function button(label: string, onClick: () => void, kind = ''): HTMLButtonElement {
  const element = h('button', { type: 'button', class: `button ${kind}`.trim() }, label);
  element.addEventListener('click', onClick);
  return element;
}

/** Makes a picture of one of index.html's symbols. Screen readers skip it. */
export function icon(id: string): SVGSVGElement {
  const namespace = 'http://www.w3.org/2000/svg';
  const svg = document.createElementNS(namespace, 'svg');
  svg.classList.add('icon');
  svg.setAttribute('aria-hidden', 'true');
  const use = document.createElementNS(namespace, 'use');
  use.setAttribute('href', `#${id}`);
  svg.append(use);
  return svg;
}

/** Lets a press on something leave the keyboard where it is, in the terminal as a rule. The Tab key still comes there. */
export function keepFocus(element: HTMLElement): void {
  element.addEventListener('mousedown', (event) => event.preventDefault());
}

/** Finds an element that index.html has. */
export function byId<T extends HTMLElement = HTMLElement>(id: string): T {
  const element = document.getElementById(id);
  if (!element) throw new Error(`index.html has no #${id}`);
  return element as T;
}
