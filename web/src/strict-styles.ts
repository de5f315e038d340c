// xterm.js styles itself with <style> elements and style attributes, which the content security policy refuses. Both
// have a way that the policy allows, because only script can go it: constructed style sheets and the CSSOM.

/**
 * Makes document.createElement give xterm.js elements whose styles the policy allows. Call it before the first terminal
 * opens. xterm.js's own `documentOverride` option would not do: its viewport does not use it.
 */
export function allowTerminalStyles(): void {
  const create = document.createElement.bind(document) as (tag: string, options?: ElementCreationOptions) => HTMLElement;
  document.createElement = ((tag: string, options?: ElementCreationOptions) => {
    if (tag === 'style') return sheetElement(create('span'));
    const element = create(tag, options);
    if (tag === 'span') element.setAttribute = setAttribute;
    return element;
  }) as typeof document.createElement;
}

/** Stands in for a <style>: its text goes to a constructed style sheet, which leaves the document with it. */
function sheetElement(element: HTMLElement): HTMLElement {
  const sheet = new CSSStyleSheet();
  document.adoptedStyleSheets.push(sheet);
  element.hidden = true;
  Object.defineProperty(element, 'textContent', { set: (text: string) => sheet.replaceSync(text) });
  element.remove = () => {
    Element.prototype.remove.call(element);
    document.adoptedStyleSheets = document.adoptedStyleSheets.filter((other) => other !== sheet);
  };
  return element;
}

function setAttribute(this: HTMLElement, name: string, value: string): void {
  if (name === 'style') this.style.cssText = value;
  else Element.prototype.setAttribute.call(this, name, value);
}
