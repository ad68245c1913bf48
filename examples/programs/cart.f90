! cart.f90: a cart on a line is to be brought to rest in the middle, for protocol 1 of hilo.
! "./cart 4" integrates in four small steps for one of the protocol, "./cart 1" in a coarse one.
program cart
  implicit none
  real(8) :: x, v, step
  integer :: substeps, seed, action, i
  logical :: over = .true.
  character(len=200) :: line, word

  call get_command_argument(1, line)
  read (line, *) substeps
  step = 0.125d0 / substeps
  do
    read (*, '(A)', end=10) line
    read (line, *) word
    select case (word)
    case ('hello')
      print '(A)', '{"hilo":1,"name":"cart","version":"1","actions":3,"observation":[[-2,2],[-1,1]],' // &
        '"start":"value","seedable":true,"deterministic":true}'
    case ('reset')
      read (line, *) word, seed
      x = sign(1 + mod(seed / 2, 16) / 16d0, mod(seed, 2) - 0.5d0)  ! left or right of the middle
      v = 0
      over = .false.
      print '(A, 2ES25.16E3)', 'ok 0 ', x, v
    case ('start')
      read (line, *) word, seed, x, v
      over = rests()
      print '(A, I2, 2ES25.16E3)', 'ok ', merge(1, 0, over), x, v
    case ('step')
      read (line, *) word, action
      if (over .or. action < 0 .or. action > 2) then
        print '(A)', 'error there is no such action, or the episode is over'
        cycle
      end if
      do i = 1, substeps
        v = max(-1d0, min(1d0, v + (action - 1) * step))
        x = max(-2d0, min(2d0, x + v * step))
        if (abs(x) >= 2) v = 0  ! the walls
      end do
      over = rests()
      print '(A, F9.6, I2, 2ES25.16E3)', 'ok ', merge(1d0, -1d0 / 64, over), merge(1, 0, over), x, v
    case ('reward')
      read (line, *) word, x, v, action, x, v  ! only where the step leads to counts
      print '(A, F9.6)', 'ok ', merge(1d0, -1d0 / 64, rests())
    case ('quit')
      exit
    case default
      print '(A)', 'error unknown request'
    end select
  end do
10 continue
contains
  logical function rests()
    rests = abs(x) <= 0.25d0 .and. abs(v) <= 0.25d0
  end function
end program
