# Shell integration for fish, read behind its configuration.

if status is-interactive; and set -q __tandem_nonce
    # Children must not know it.
    begin
        set -l nonce $__tandem_nonce
        set -e __tandem_nonce
        set -g __tandem_nonce $nonce
    end
    set -g __tandem_running 0
    set -g __tandem_cwd ''

    function __tandem_prompt --on-event fish_prompt
        if test "$__tandem_cwd" != "$PWD"
            set -g __tandem_cwd $PWD
            builtin printf '\e]633;P;Cwd=%s;%s\a' (__tandem_escape $PWD) $__tandem_nonce
        end
        builtin printf '\e]633;A;%s\a' $__tandem_nonce
    end

    function __tandem_preexec --on-event fish_preexec
        set -g __tandem_running 1
        builtin printf '\e]633;E;%s;%s\a\e]633;C;%s\a' (__tandem_escape $argv[1]) $__tandem_nonce $__tandem_nonce
    end

    function __tandem_postexec --on-event fish_postexec
        builtin printf '\e]633;D;%s;%s\a' $status $__tandem_nonce
    end

    # Prints its argument without what would end or split a sequence.
    function __tandem_escape
        set -l lines (builtin string split \n -- $argv[1])
        set lines (builtin string replace -a '\\' '\\\\' -- $lines)
        set lines (builtin string replace -a ';' '\\x3b' -- $lines)
        if builtin string match -qr '[\x00-\x1f\x7f-\x9f]' -- $lines
            for code in 01 02 03 04 05 06 07 08 09 0a 0b 0c 0d 0e 0f 10 11 12 13 14 15 16 17 18 19 1a 1b 1c 1d 1e 1f 7f
                set lines (builtin string replace -ar "\\x$code" "\\\\x$code" -- $lines)
            end
            for code in 80 81 82 83 84 85 86 87 88 89 8a 8b 8c 8d 8e 8f 90 91 92 93 94 95 96 97 98 99 9a 9b 9c 9d 9e 9f
                set lines (builtin string replace -ar "\\x{00$code}" "\\\\xc2\\\\x$code" -- $lines)
            end
        end
        builtin string join '\\x0a' -- $lines
    end
end
