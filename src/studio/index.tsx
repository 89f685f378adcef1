/** Entry of the browser application. */
import { render } from 'preact';
import './studio.css';

render(<main>Studio</main>, document.getElementById('studio')!);
