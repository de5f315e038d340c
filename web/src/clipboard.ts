/**
 * Puts text on the clipboard. Must be called from a key or click. Returns false when the browser refuses.
 *
 * The asynchronous clipboard exists only on https and loopback; elsewhere the old command still works.
 */
export async function copyText(text: string): Promise<boolean> {
  if (navigator.clipboard) {
    try {
      await navigator.clipboard.writeText(text);
      return true;
    } catch {
      // Not permitted; the command may be.
    }
  }
  let copied = false;
  const onCopy = (event: ClipboardEvent) => {
    event.clipboardData?.setData('text/plain', text);
    event.preventDefault();
    event.stopImmediatePropagation(); // or xterm.js puts its own selection there
    copied = true;
  };
  addEventListener('copy', onCopy, { capture: true });
  document.execCommand('copy');
  removeEventListener('copy', onCopy, { capture: true });
  return copied;
}
